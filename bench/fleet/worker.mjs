// A machine that works on runs, for the bench: Foldout's durable runs, or the same steps on DBOS alone.
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { DBOS } from '@dbos-inc/dbos-sdk'
import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import { chatAdapter } from 'foldout/adapter'
import { defineRun, startRun } from 'foldout/durable'
import { createDbosEngine, createPostgresStore } from 'foldout-fleet'
import pg from 'pg'

/** @type {{ url: string, machine: string, mode: 'foldout' | 'dbos', turns: number, pauseMs: number }} */
const { url, machine, mode, turns, pauseMs } = JSON.parse(process.argv[2])
const POLLING_MS = 50
const say = (...words) => void writeSync(1, `${words.join(' ')}\n`)

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 }
/** A reply of the model: a call, or finally an answer. */
function reply(turn) {
  const toolCalls = turn < turns ? [{ id: `call-${turn}`, name: 'work', arguments: { turn } }] : []
  return { message: { role: 'assistant', text: turn < turns ? '' : 'Done.', toolCalls }, usage }
}
async function work(turn) {
  say('did', turn)
  if (pauseMs > 0) await sleep(pauseMs)
  return `The work of turn ${turn} is done.`
}

async function createFoldout() {
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  const store = await createPostgresStore({ pool })
  const tool = defineTool({
    name: 'work',
    description: 'Works.',
    params: { type: 'object', properties: { turn: { type: 'number' } } },
    execute: async ({ turn }) => ok(await work(turn)),
  })
  const adapter = chatAdapter({
    name: 'scripted',
    model: 'script',
    async complete({ messages }) {
      const turn = messages.filter(({ role }) => role === 'assistant').length
      if (turn === turns) say('end')
      return reply(turn)
    },
  })
  const prompt = definePrompt({ ns: 'b', key: 'b', sections: [defineSection({ key: 'a', title: 'A', tools: [tool] })] })
  const limits = { minPollingIntervalMs: POLLING_MS }
  const engine = createDbosEngine({ dbos: DBOS, connectionString: url, limits })
  const run = defineRun({ name: 'bench', engine, store, prompt: prompt.bind(), adapter })
  return { serve: () => engine.serve(), start: (id) => startRun(run, { id, input: 'Go.' }) }
}

function createDbosAlone() {
  const options = { name: 'bench.alone' }
  DBOS.registerWorkflow(async () => {
    for (let turn = 0; turn < turns; turn++) {
      await DBOS.runStep(async () => reply(turn), { name: 'request' })
      await DBOS.runStep(() => work(turn), { name: 'call' })
    }
    const last = await DBOS.runStep(async () => reply(turns), { name: 'request' })
    say('end')
    return last.message.text
  }, options)
  return {
    serve: () => DBOS.registerQueue('alone', { partitionConcurrency: 1, minPollingIntervalMs: POLLING_MS }),
    start: (id) =>
      DBOS.enqueueWorkflowWithOptions({
        queueName: 'alone',
        workflowName: options.name,
        workflowID: id,
        queuePartitionKey: id,
      }),
  }
}

const contender = mode === 'foldout' ? await createFoldout() : createDbosAlone()
const logger = { info() {}, warn() {}, error() {}, debug() {} }
DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, executorID: machine, applicationVersion: '1', logger })
await DBOS.launch()
await contender.serve()
say('ready')
for await (const line of createInterface({ input: process.stdin })) {
  for (const id of JSON.parse(line)) await contender.start(id)
  say('started')
}
