// Measures one host in a process of its own, and prints a row of the table as JSON.
import {
  definePrompt,
  defineSection,
  defineTool,
  ok,
  type BoundPrompt,
} from '../../packages/foldout/src/entries/index.ts'
import type { HostSetup, ScriptedReply, SeenRequest } from '../../packages/foldout/src/entries/testing-suites.ts'
import { loadContender, type Contender } from './contenders.ts'

const TURNS = 10

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

/** The work of one turn, in milliseconds: of the processor, because other programs take turns on it; and of the clock. */
interface Cost {
  readonly cpu: number
  readonly clock: number
}

async function measureHost(name: string, rounds: number): Promise<object> {
  const contender = await loadContender(name)
  try {
    const prefixKept = await measurePrefix(contender)
    const pairs: (readonly [bare: Cost, folded: Cost])[] = []
    // In pairs, so that what else the machine does slows both, and in turns, so that neither is always first.
    for (let round = 0; round < rounds; round++) {
      const first = await measureTurns(contender, round % 2 === 0)
      const second = await measureTurns(contender, round % 2 !== 0)
      // The first rounds compile the code.
      if (round >= rounds / 5) pairs.push(round % 2 === 0 ? [first, second] : [second, first])
    }
    const bare = getMedian(pairs.map(([each]) => each.cpu))
    const added = getMedian(pairs.map(([one, other]) => other.cpu - one.cpu))
    const clock = getMedian(pairs.map(([each]) => each.clock))
    return {
      host: name,
      prefixKept,
      bareMs: bare,
      addedMs: added,
      atOnce: (100 * added) / bare,
      inASecond: (100 * added) / (clock + 1_000),
    }
  } finally {
    await contender.close?.()
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

/** Each turn calls one of the host's own tools. */
async function measureTurns({ create }: Contender, isBare: boolean): Promise<Cost> {
  let count = 0
  const model: HostSetup['model'] = () => {
    count += 1
    if (count % 2 === 0) return { text: 'Done.' }
    return { calls: [{ id: `call_${count}`, name: 'look_up', arguments: { what: 'A-17' } }] }
  }
  const agent = await create({ bound, options: {}, model }, isBare)
  const [started, used] = [performance.now(), process.cpuUsage()]
  for (let turn = 0; turn < TURNS; turn++) await agent.send(`Turn ${turn}.`)
  const { user, system } = process.cpuUsage(used)
  return { cpu: (user + system) / 1_000 / TURNS, clock: (performance.now() - started) / TURNS }
}

const [name = '', rounds = '20'] = process.argv.slice(2)
console.log(JSON.stringify(await measureHost(name, Number(rounds))))
process.exit()
