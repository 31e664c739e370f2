import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { StdioClientTransport as FirstSdkStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, it } from 'vitest'
import { hybrid } from '../../catalog/exposures/hybrid.ts'
import { manyKinds, RICH_RESULT } from './catalog.fixtures.ts'
import { allKinds, clientKinds, getText } from './clients.fixtures.ts'
import { serveMcp } from './serve-mcp.ts'

const program = {
  command: process.execPath,
  args: ['--import', 'tsx', join(import.meta.dirname, 'server.fixtures.ts')],
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

describe('a server that a client starts', () => {
  it.each(allKinds)(
    'R44 R46 serves a %s over stdio',
    async (kind) => {
      const options = { ...program, stderr: 'ignore' as const }
      const client = await clientKinds[kind](
        kind === 'v1 client' ? new FirstSdkStdio(options) : new StdioClientTransport(options),
      )
      const { tools } = await client.list()
      expect(tools.map(({ name }) => name)).toEqual(['get_states', 'search_tools', 'use_tool'])
      expect(getText(await client.call('search_tools', { query: 'take a picture' }))).toMatch(/^take_picture\(/)
      expect((await client.call('use_tool', { name: 'take_picture' })).content).toEqual(RICH_RESULT.content)
      expect(getText(await client.call('chatty'))).toBe('said')
      const progress: unknown[] = []
      await client.call('water_garden', { beds: 2, pauseMs: 100 }, { onProgress: (step) => progress.push(step) })
      // The SDKs' clients drop progress that they read together with the result, which a busy machine may make of the last one.
      expect(progress[0]).toMatchObject({ progress: 1, total: 2 })
      await client.close()
    },
    60_000,
  )

  it('keeps standard output for the protocol and ends when standard input closes', async () => {
    const child = spawn(program.command, program.args, { stdio: 'pipe' })
    const outputs = Promise.all([text(child.stdout), text(child.stderr)])
    const messages = [
      INITIALIZE,
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'chatty' } },
    ]
    child.stdin.write(`${messages.map((message) => JSON.stringify(message)).join('\n')}\nnot JSON\n`)
    await once(child.stderr, 'data')
    child.stdin.end(`${JSON.stringify({ jsonrpc: '2.0', id: 3, method: 'ping' })}\n`)
    const [code] = (await once(child, 'exit')) as [number]
    const [stdout, stderr] = await outputs
    expect(code).toBe(0)
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number })
    expect(answers.map(({ id }) => id)).toContain(2)
    expect(stderr).toContain('this is not the protocol\nneither is this\n')
    expect(stderr).toMatch(/gone\n$/)
  })

  it('serves streams that it is given, and leaves those of the process alone', async () => {
    const { write } = process.stdout
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    const served = serveMcp(manyKinds(), { name: 'home', version: '1.0.0', expose: hybrid() })
    const connection = await served.stdio({ stdin, stdout })
    expect(process.stdout.write).toBe(write)
    stdin.write(`${JSON.stringify(INITIALIZE)}\n`)
    const [line] = (await once(stdout, 'data')) as [Buffer]
    expect(JSON.parse(String(line))).toMatchObject({
      id: 1,
      result: { serverInfo: { name: 'home', version: '1.0.0' } },
    })
    stdin.end()
    await connection.closed
    await served.close()
  })

  it('R46 delays a result after the last progress, because clients drop progress that arrives with it', async () => {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    /** In which turn of the event loop a message came last, by its method or id. */
    const turns = new Map<string, number>()
    let turn = 0
    const timer = setInterval(() => turn++, 0)
    stdout.on('data', (line: Buffer) => {
      const { id, method } = JSON.parse(String(line)) as { readonly id?: number; readonly method?: string }
      turns.set(method ?? String(id), turn)
    })
    const served = serveMcp(manyKinds(), { name: 'home', version: '1.0.0', expose: hybrid() })
    await served.stdio({ stdin, stdout })
    const params = { name: 'water_garden', arguments: { beds: 2 }, _meta: { progressToken: 'a' } }
    stdin.write(`${JSON.stringify(INITIALIZE)}\n`)
    const waits: number[] = []
    // One may be slow enough by itself on a busy machine.
    for (const id of ['2', '3', '4', '5', '6']) {
      stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'tools/call', id: Number(id), params })}\n`)
      await expect.poll(() => turns.has(id), { interval: 5 }).toBe(true)
      waits.push((turns.get(id) ?? 0) - (turns.get('notifications/progress') ?? Infinity))
    }
    clearInterval(timer)
    expect(Math.max(...waits)).toBeGreaterThan(0)
    await served.close()
  })

  it('gives standard output back when it is closed', async () => {
    const { write } = process.stdout
    const served = serveMcp(manyKinds(), { name: 'home', version: '1.0.0' })
    const connection = await served.stdio({ stdin: new PassThrough() })
    expect(process.stdout.write).not.toBe(write)
    await served.close()
    await connection.closed
    expect(process.stdout.write).toBe(write)
  })
})
