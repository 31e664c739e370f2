// A durable run, streamed to a browser. The server is killed in the middle of a reply; the browser connects again with
// the cursor of the last event that it received, and misses nothing.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import { chatAdapter, NO_USAGE, type ChatRequest } from 'foldout/adapter'
import { createLocalEngine, defineRun, getRun, startRun, type RunEvent } from 'foldout/durable'
import { createLibsqlStore } from 'foldout/libsql'

const ANSWER = 'Your parcel is on its way.'

const track = defineTool({ name: 'track', description: 'Track a parcel.', execute: () => ok('In transit.') })
const desk = defineSection({ key: 'desk', title: 'Desk', template: 'You answer customers.', tools: [track] })
const bound = definePrompt({ ns: 'shops', key: 'parcels', sections: [desk] }).bind()

/** Stands for a model: it calls the tool, and then writes its answer word by word. */
async function complete({ messages, emit }: ChatRequest, dies: boolean) {
  const reply = (text: string, toolCalls: readonly { id: string; name: string; arguments: object }[]) =>
    ({ message: { role: 'assistant', text, toolCalls }, usage: NO_USAGE }) as const
  if (messages.at(-1)?.role === 'user') return reply('', [{ id: 'call-1', name: 'track', arguments: {} }])
  for (const [at, word] of ANSWER.split(/(?<= )/).entries()) {
    if (dies && at === 3) process.kill(process.pid, 'SIGKILL')
    emit({ type: 'text/delta', text: word })
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return reply(ANSWER, [])
}

/** The server: it goes on with what an earlier process left, and streams the run to browsers. */
async function serve(path: string, dies: boolean): Promise<void> {
  const store = await createLibsqlStore({ path })
  const parcels = defineRun({
    name: 'parcels',
    engine: createLocalEngine(),
    store,
    prompt: bound,
    adapter: chatAdapter({ name: 'stand-in', model: 'words', complete: (request) => complete(request, dies) }),
    // How long a process may be silent before the next one continues its runs.
    lease: { ms: 500 },
  })
  await startRun(parcels, { id: 'ticket-17', input: 'Where is my parcel?' })
  const stream = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const left = new AbortController()
    response.on('close', () => left.abort())
    const after = Number(request.headers['last-event-id'] ?? 0)
    const events = getRun(parcels, 'ticket-17').events({ after, signal: left.signal })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    try {
      for await (const event of events) send(response, event)
    } catch {
      // The browser has left, or the run has failed; it asks again, or for the run's status.
    }
    response.end()
  }
  const server = createServer((request, response) => void stream(request, response))
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}

/** Sends what a browser needs to know. The texts of sections and the results of tools stay here. */
function send(response: ServerResponse, event: RunEvent): void {
  const { type, cursor } = event
  const shown: Record<string, unknown> = { type }
  if (type === 'text/delta') Object.assign(shown, { text: event.text, reply: event.reply })
  if (type === 'tool/called') shown['tool'] = event.call.name
  if (type === 'reply/received') shown['text'] = event.message.text
  response.write(`id: ${cursor}\ndata: ${JSON.stringify(shown)}\n\n`)
}

interface Shown {
  readonly type: RunEvent['type']
  readonly text?: string
  readonly tool?: string
}

/** The page of a browser, which has `EventSource` for this. It keeps its page when the server dies. */
function createPage() {
  let cursor = '0'
  const page = { called: [] as string[], writing: '', answer: '', isOver: false }
  const show = ({ type, text = '', tool = '' }: Shown): void => {
    if (type === 'text/delta') page.writing += text
    if (type === 'tool/called') page.called.push(tool)
    // The whole reply replaces the pieces, which may be of a reply that nobody finished.
    if (type === 'reply/received') Object.assign(page, { answer: text, writing: '' })
    if (type === 'run/finished') page.isOver = true
  }
  return {
    page,
    /** Reads until the connection ends. */
    async connect(port: number): Promise<void> {
      // The beginning of a reply comes again.
      page.writing = ''
      const { body } = await fetch(`http://127.0.0.1:${port}/`, { headers: { 'last-event-id': cursor } })
      let rest = ''
      for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const whole = (rest + chunk).split('\n\n')
        rest = whole.pop() ?? ''
        for (const [, id = '0', data = '{}'] of whole.map((each) => /^id: (.*)\ndata: (.*)$/.exec(each) ?? [])) {
          cursor = id
          show(JSON.parse(data) as Shown)
        }
      }
    },
  }
}

async function startServer(path: string, dies: boolean) {
  const child = fork(fileURLToPath(import.meta.url), [path, String(dies)])
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (given) => resolve(Number(given)))
    child.once('exit', () => reject(new Error('The server has ended before it served.')))
  })
  return { port, stop: () => child.kill() }
}

async function show(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'foldout-stream-'))
  const path = join(folder, 'runs.db')
  const { page, connect } = createPage()
  try {
    const first = await startServer(path, true)
    await assert.rejects(connect(first.port))
    console.log(`The server died. The page shows: ${JSON.stringify(page)}`)
    assert.equal(page.isOver, false)
    assert.match(page.writing, /^Your parcel/)

    const second = await startServer(path, false)
    await connect(second.port).finally(second.stop)
    console.log(`Connected again. The page shows: ${JSON.stringify(page)}`)
    // Each step is there once.
    assert.deepEqual(page, { called: ['track'], writing: '', answer: ANSWER, isOver: true })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const [path, dies] = process.argv.slice(2)
if (path === undefined) await show()
else await serve(path, dies === 'true')
