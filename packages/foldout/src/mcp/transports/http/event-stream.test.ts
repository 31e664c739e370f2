import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { EVENT_KEEP_ALIVE_MS } from '../../limits.ts'
import { EventStream } from './event-stream.ts'
import { createNodeHandler } from './node.ts'

afterEach(() => void vi.useRealTimers())

it('R44 a stream that has ended sends nothing more to a client that does not read', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const errors: Error[] = []
  const responses: ServerResponse[] = []
  const streams: EventStream[] = []
  const handle = createNodeHandler({
    async handle(_request, reply) {
      const stream = new EventStream(reply, { headers: {}, isSilent: true })
      for (let i = 0; i < 64; i++) stream.send({ text: 'x'.repeat(1_000_000) })
      stream.end()
      streams.push(stream)
    },
  })
  const server = createServer((request, response) => {
    response.on('error', (error) => errors.push(error))
    responses.push(response)
    void handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await vi.waitFor(() => expect(streams).toHaveLength(1))
  expect(responses[0]?.closed).toBe(false)
  vi.advanceTimersByTime(3 * EVENT_KEEP_ALIVE_MS)
  streams[0]?.send({ text: 'late' })
  await new Promise((resolve) => setImmediate(resolve))
  expect(errors).toEqual([])
  socket.destroy()
  await new Promise((resolve) => server.close(resolve))
})
