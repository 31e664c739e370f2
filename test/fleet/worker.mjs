// A machine of a fleet. It works on runs, takes commands as lines of JSON on standard input, and reports on standard output. The tests kill,
// suspend and disconnect it. The effects of its tools are lines in a file, which survives every kill.
import { createHash } from 'node:crypto'
import { appendFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { DBOS } from '@dbos-inc/dbos-sdk'
import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import { chatAdapter } from 'foldout/adapter'
import { defineRun, getRun, startRun } from 'foldout/durable'
import { createDbosEngine, createPostgresStore } from 'foldout-fleet'
import pg from 'pg'

/** The settings of `startMachine`. */
const options = JSON.parse(process.argv[2])
const { machine, effects, killAt, version = '1', turns = 4, pauseMs = 0 } = options
/** All connections of this machine carry its name, so that a test can cut them. */
const url = `${options.url}?application_name=${machine}`

const say = (...words) => void writeSync(1, `${words.join(' ')}\n`)
let points = 0
/** A point at which the machine may die: between any two events, and before and after a tool does its work. */
function passPoint() {
  points += 1
  if (points === killAt) process.kill(process.pid, 'SIGKILL')
}

const pool = new pg.Pool({ connectionString: url, max: 8 })
pool.on('error', () => undefined)
const plain = await createPostgresStore({ pool })
const store = {
  ...plain,
  async append(session, events) {
    // The id of a session begins with the kind of its run.
    const id = session.replace('chores/', '')
    passPoint()
    try {
      await plain.append(session, events)
    } catch (error) {
      say('refused', id, error.code)
      throw error
    }
    if (killAt !== undefined) acknowledge(id, events)
    passPoint()
  },
}
function acknowledge(id, events) {
  for (const { sequence, event } of events) {
    say('ack', id, sequence, hash(JSON.stringify(event.payload ?? null)))
    if (event.type === 'run/called') appendFileSync(effects, `completed ${id} ${event.payload.result.callId}\n`)
  }
}
function hash(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

const makeTool = (name, more = {}) =>
  defineTool({
    name,
    description: name,
    execute: async (_params, { idempotencyKey }) => {
      passPoint()
      appendFileSync(effects, `${name} ${idempotencyKey}\n`)
      passPoint()
      say('did', name)
      if (name === 'slow') await sleep(options.isSlow ? 3_600_000 : 1)
      if (pauseMs > 0) await sleep(pauseMs)
      return ok(`${name} is done`)
    },
    ...more,
  })
const tools = [
  makeTool('change'),
  makeTool('look', { annotations: { readOnlyHint: true } }),
  makeTool('slow'),
  makeTool('pay', { needsApproval: true }),
]
const prompt = definePrompt({ ns: 't', key: 't', sections: [defineSection({ key: 'a', title: 'A', tools })] })

/** Decides what to do from the conversation alone, as a model would. */
const adapter = chatAdapter({
  name: 'scripted',
  model: 'script',
  async complete({ messages }) {
    const turn = messages.filter(({ role }) => role === 'assistant').length
    const call = (name, i) => ({ id: `call-${turn}-${i}`, name, arguments: {} })
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
    if (turn >= turns) return { message: { role: 'assistant', text: options.answer ?? 'Done.', toolCalls: [] }, usage }
    const names = messages[0].text.split(' ')[turn % messages[0].text.split(' ').length].split('+')
    return { message: { role: 'assistant', text: '', toolCalls: names.map(call) }, usage }
  },
})

const engine = createDbosEngine({
  dbos: DBOS,
  connectionString: url,
  silenceMs: options.silenceMs ?? 10_000,
  scanMs: options.scanMs ?? 200,
  limits: { minPollingIntervalMs: 50, ...options.limits },
  onEvent: (event) => say('fleet', JSON.stringify(event)),
})
const chores = defineRun({ name: 'chores', engine, store, prompt: prompt.bind(), adapter })
const silent = { info() {}, warn() {}, error() {}, debug() {} }
DBOS.setConfig({
  name: 'fleet',
  systemDatabaseUrl: `${url}&options=-c%20idle_in_transaction_session_timeout%3D60000`,
  executorID: machine,
  applicationVersion: version,
  logger: silent,
})
await engine.launch()
await engine.serve()

const commands = {
  /** Starts or continues runs. */
  async start({ ids, ...more }) {
    await Promise.all(ids.map((id) => startRun(chores, { id, ...more })))
    say('started', ids.join(' '))
  },
  async status({ id }) {
    say('status', id, JSON.stringify(await getRun(chores, id).status()))
  },
  async result({ id }) {
    const { status, text, messages } = await getRun(chores, id).result()
    say('result', id, JSON.stringify({ status, text, messages }))
  },
  /** Approves the calls of a run, several times at once. */
  async answer({ id, times = 1 }) {
    const run = getRun(chores, id)
    const [request] = await run.approvals()
    const ends = await Promise.allSettled(
      Array.from({ length: times }, () => run.signal('approval', { ...request, approved: true })),
    )
    say('answered', id, ends.filter(({ status }) => status === 'fulfilled').length)
  },
  async cancel({ id }) {
    await getRun(chores, id).cancel()
    say('cancelled', id)
  },
  async heap() {
    globalThis.gc?.()
    say('heap', process.memoryUsage().heapUsed, process.memoryUsage().rss)
  },
  async leave() {
    await engine.close()
    await DBOS.shutdown()
    await pool.end()
    say('left')
    process.exit(0)
  },
}
say('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...args } = JSON.parse(line)
  commands[command](args).catch((error) => say('failed', command, error.code ?? '', error.message))
}
