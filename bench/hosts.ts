import { join } from 'node:path'
import { definePrompt, defineSection, defineTool, ok, type BoundPrompt } from '../packages/foldout/src/entries/index.ts'
import type {
  HostAgent,
  HostSetup,
  ScriptedReply,
  SeenRequest,
} from '../packages/foldout/src/entries/testing-suites.ts'
import { useHostPackages } from '../tools/host-packages.ts'
import { goal, progress, type Bench, type Row } from './report.ts'

const TURNS = 10
const test = join(import.meta.dirname, '../test')

/** Makes agents of one host: with the prompt, or without, to compare it with. */
interface Contender {
  readonly name: string
  readonly create: (setup: HostSetup, isBare: boolean) => HostAgent | Promise<HostAgent>
}

export const hostsBench: Bench = {
  name: 'hosts',
  question: 'What do the loops of others keep of a prefix, and what does a prompt in them cost?',
  columns: [
    { key: 'host', label: 'host' },
    { key: 'prefixKept', label: '% of the prefix kept' },
    { key: 'bareMs', label: 'ms per turn, bare' },
    { key: 'foldedMs', label: 'ms per turn, folded' },
    { key: 'atOnce', label: '% added, model answers at once' },
    { key: 'inASecond', label: '% added, model takes a second' },
  ],
  async run({ quick }) {
    const rows: Row[] = []
    for (const contender of await loadContenders()) {
      progress(`${contender.name} ...`)
      rows.push(await measureHost(contender, quick ? 4 : 20))
    }
    const each = (key: string, name: string, comparison: '<=' | '>=', limit: number) =>
      rows.map((row) => goal(`${row['host']}: ${name}`, Number(row[key]), comparison, limit))
    return {
      rows,
      goals: [
        ...each('prefixKept', `% of the prefix kept over ${TURNS} turns`, '>=', 100),
        ...each('inASecond', '% added to a turn whose model takes a second', '<=', 2),
        ...each('atOnce', '% added to a turn whose model answers at once', '<=', 2),
      ],
    }
  },
}

const tool = (name: string) => defineTool({ name, description: `Does ${name}.`, execute: () => ok(`${name} is done.`) })
const bound = definePrompt({
  ns: 'bench',
  key: 'hosts',
  sections: ['orders', 'refunds', 'shipping', 'accounts', 'invoices', 'returns'].map((key) =>
    defineSection({
      key,
      title: key,
      template: `Everything about ${key}. `.repeat(60),
      summary: `About ${key}.`,
      visibility: 'summary',
      tools: [tool(`${key}_list`), tool(`${key}_change`)],
    }),
  ),
}).bind() as BoundPrompt

/** Packages of hosts are installed for their tests only. */
async function loadContenders(): Promise<readonly Contender[]> {
  useHostPackages(['langchain', 'openai-agents', 'mastra'])
  const langchain = await import('../test/langchain/harness.ts')
  const openai = await import('../test/openai-agents/harness.ts')
  const mastra = await import('../test/mastra/harness.ts')
  const sdk = await import('../test/ai-sdk/host.ts')
  const ai = await import('ai')
  const [chain, agents, core] = [
    await langchain.loadLangChain(join(test, 'langchain')),
    await openai.loadOpenAiAgents(join(test, 'openai-agents')),
    await mastra.loadMastra(join(test, 'mastra')),
  ]
  return [
    {
      name: 'LangChain',
      create: (setup, isBare) =>
        langchain.createHostAgent(chain, setup, (options, own) =>
          chain.langchain.createAgent({ ...options, middleware: isBare ? [] : [own] }),
        ),
    },
    { name: 'openai-agents', create: (setup, isBare) => openai.createHostAgent(agents, setup, { isBare }) },
    { name: 'Mastra', create: (setup, isBare) => mastra.createHostAgent(core, setup, { isBare }) },
    { name: 'AI SDK 6', create: (setup, isBare) => sdk.createHostAgent(ai, setup, { isBare }) },
  ]
}

async function measureHost(contender: Contender, rounds: number): Promise<Row> {
  const prefixKept = await measurePrefix(contender)
  const bare: number[] = []
  const folded: number[] = []
  // In turns, so that what else the machine does slows both.
  for (let round = 0; round < rounds; round++) {
    bare.push(await timeTurns(contender, true))
    folded.push(await timeTurns(contender, false))
  }
  const [bareMs, foldedMs] = [getMedian(bare), getMedian(folded)]
  const added = foldedMs - bareMs
  return {
    host: contender.name,
    prefixKept,
    bareMs,
    foldedMs,
    atOnce: (100 * added) / bareMs,
    inASecond: (100 * added) / (bareMs + 1_000),
  }
}

const getMedian = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** Opens a section in each of the first six turns, and compares each request with the one before it. */
async function measurePrefix({ create }: Contender): Promise<number> {
  const keys = ['shipping', 'orders', 'returns', 'accounts', 'invoices', 'refunds']
  const script = keys.flatMap((key, at): ScriptedReply[] => [
    { calls: [{ id: `call_${at}`, name: 'read_section', arguments: { section_key: key } }] },
    { text: 'Done.' },
  ])
  const requests: SeenRequest[] = []
  const model: HostSetup['model'] = (request) => {
    requests.push(request)
    return script.shift() ?? { text: 'Done.' }
  }
  const agent = await create({ bound, options: {}, model }, false)
  for (let turn = 0; turn < TURNS; turn++) await agent.send(`Turn ${turn}.`)
  let kept = 0
  let all = 0
  for (const [at, request] of requests.entries()) {
    const before = requests[at - 1]
    if (!before) continue
    for (const part of [getSystem, getTools, getResults]) {
      all += part(before).length
      kept += countCommon(part(before), part(request))
    }
  }
  return (100 * kept) / all
}

const getSystem = ({ system }: SeenRequest): string => system
const getTools = ({ tools }: SeenRequest): string => tools.join('\n')
const getResults = ({ results }: SeenRequest): string => results.join('\n')

function countCommon(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}

/** Milliseconds per turn: each calls one of the host's own tools. */
async function timeTurns({ create }: Contender, isBare: boolean): Promise<number> {
  let count = 0
  const model: HostSetup['model'] = () => {
    count += 1
    if (count % 2 === 0) return { text: 'Done.' }
    return { calls: [{ id: `call_${count}`, name: 'look_up', arguments: { what: 'A-17' } }] }
  }
  const agent = await create({ bound, options: {}, model }, isBare)
  const started = performance.now()
  for (let turn = 0; turn < TURNS; turn++) await agent.send(`Turn ${turn}.`)
  return (performance.now() - started) / TURNS
}
