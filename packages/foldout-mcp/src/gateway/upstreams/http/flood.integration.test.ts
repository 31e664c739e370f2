import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGzip } from 'node:zlib'
import { afterEach, expect, it } from 'vitest'
import { removeFolder } from '../../../remove-folder.fixtures.ts'
import { createGateway } from '../../gateway.ts'
import { SessionServer, type Exchange } from './server.fixtures.ts'

let closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** Writes until the other side has gone. */
function flood(stream: NodeJS.WritableStream, isOver: () => boolean, text: string): void {
  const write = (): void => {
    while (!isOver() && stream.write(text));
  }
  stream.on('drain', write).on('error', () => undefined)
  write()
}

const LINE = 'x'.repeat(1_000_000)

const FLOODS: Readonly<Record<string, (exchange: Exchange) => void>> = {
  bomb({ response }) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    const zip = createGzip({ level: 1 })
    zip.pipe(response)
    response.on('close', () => zip.destroy())
    flood(zip, () => response.destroyed, LINE)
  },
  event({ response }) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: ')
    flood(response, () => response.destroyed, LINE)
  },
  refusal({ response }) {
    flood(response.writeHead(500), () => response.destroyed, LINE)
  },
}

it('R53 a server over HTTP that never stops sending is cut off, and can be called again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'foldout-flood-'))
  closing.push(() => removeFolder(folder))
  const server = await new SessionServer(FLOODS).start()
  closing.push(() => server.stop())
  const definition = { mcpServers: { a: { url: server.url } }, expose: 'all' } as const
  const gateway = await createGateway(definition, { cache: join(folder, 'cache') })
  closing.push(() => gateway.close())
  await gateway.ready()
  const catalog = await gateway.getCatalog()
  const texts: string[] = []
  for (const tool of ['bomb', 'event', 'refusal', 'echo']) {
    const { content } = await catalog.call(tool, {})
    texts.push(content.map(({ text }) => String(text).slice(0, 200)).join('\n'))
  }
  expect(texts).toEqual([
    "The call of 'bomb' on the server 'a' failed: The server sent an answer of more than 268435456 bytes.",
    "The connection to the server 'a' was lost during the call of 'event'. It sent an event that is too long. It is unknown whether it has run.",
    expect.stringContaining("The call of 'refusal' on the server 'a' failed: "),
    'echo',
  ])
}, 60_000)
