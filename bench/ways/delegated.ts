import assert from 'node:assert/strict'
import { definePrompt, defineSection, defineTool, ok, runAgent, type BoundPrompt, type TokenCounter } from 'foldout'
import { compareDelegating } from 'foldout/telemetry'
import { calls, says, scriptedAdapter, type ScriptedRequest, type ScriptStep } from 'foldout/testing'
import { goal, type Goal, type Row } from '../report.ts'
import { bill, PRICES, toPieces, type Pieces, type Price, type Start } from './billing.ts'
import { makeText } from './texts.ts'

const AGENT = 'desk, 3 of 8 sections used'
const SECTIONS = 8
const USED = [1, 4, 6]
const LOOKUPS = 3
/** The price of a small model, as a share of the price of the model that asks. */
const SMALL = 0.2

function makeDesk(delegate: boolean): BoundPrompt<{}> {
  const role = defineSection({ key: 'role', title: 'Role', template: makeText('role', 1_500) })
  const topics = Array.from({ length: SECTIONS }, (_, at) =>
    defineSection({
      key: `topic${at}`,
      title: `Topic ${at}`,
      template: makeText(`topic ${at}`, 2_000),
      summary: `Rules and records of topic ${at}.`,
      visibility: 'summary',
      delegate,
      tools: [
        defineTool({
          name: `look_up_${at}`,
          description: `Looks up the records of topic ${at}.`,
          execute: () => ok(makeText(`record ${at}`, 1_200)),
        }),
      ],
    }),
  )
  return definePrompt({ ns: 'bench', key: 'desk', sections: [role, ...topics] }).bind()
}

/** The same work with sections that are opened and with sections that are asked, by the real loop. */
export async function computeDelegated(
  counter: TokenCounter,
): Promise<{ readonly rows: readonly Row[]; readonly goals: readonly Goal[] }> {
  const opened = await work('open', counter)
  const asked = await work('ask', counter)
  const rows: Row[] = []
  const goals: Goal[] = []
  for (const price of PRICES) {
    for (const start of ['cold', 'warm'] as const) {
      const opening = billAll(opened, price, start, 1)
      const asking = billAll(asked, price, start, 1)
      const small = billAll(asked, price, start, SMALL)
      const row = { agent: `${AGENT}, ${price.name}, ${start}`, adapter: 'dynamic' }
      rows.push(
        { ...row, strategy: 'readSection', requests: opened.requests, billed: Math.round(opening) },
        {
          ...row,
          strategy: 'delegated',
          requests: asked.requests,
          billed: Math.round(asking),
          billedSaving: percent(1 - asking / opening),
        },
        {
          ...row,
          strategy: 'delegated to a model at 0.2',
          requests: asked.requests,
          billed: Math.round(small),
          billedSaving: percent(1 - small / opening),
        },
      )
      goals.push(goal(`${row.agent}: delegated, as a share of opening`, asking / opening, '<=', 1))
    }
  }
  goals.push(goal('the formula says so, too', compareDelegating(USE).asking / compareDelegating(USE).opening, '<=', 1))
  return { rows, goals }
}

const USE = { context: 4_000, section: 2_050, requests: LOOKUPS, results: LOOKUPS * 1_220, later: 8 }

interface Work {
  /** Of the conversation with the user first, then of each delegate. */
  readonly conversations: readonly (readonly Pieces[])[]
  readonly requests: number
}

async function work(way: 'open' | 'ask', counter: TokenCounter): Promise<Work> {
  const bound = makeDesk(way === 'ask')
  const script = USED.flatMap((topic): readonly ScriptStep[] => {
    const lookups = Array.from({ length: LOOKUPS }, () => calls(`look_up_${topic}`))
    if (way === 'open') return [calls('read_section', { section_key: `topic${topic}` }), ...lookups]
    const question = makeText('question', 60)
    return [calls('ask_section', { path: `topic${topic}`, question }), ...lookups, says(makeText('answer', 150))]
  })
  const adapter = scriptedAdapter([...script, says('Done.')])
  await runAgent(bound, { adapter, input: makeText('question', 60), refold: false })
  adapter.assertDone()
  const definitions = listDefinitions(bound)
  const byStart = new Map<string, Pieces[]>()
  for (const request of adapter.requests) {
    const pieces = toPieces(toTexts(request, definitions), counter)
    byStart.set(request.system, [...(byStart.get(request.system) ?? []), pieces])
  }
  assert.equal(byStart.size, way === 'open' ? 1 : 1 + USED.length)
  return { conversations: [...byStart.values()], requests: adapter.requests.length }
}

function listDefinitions(bound: BoundPrompt<{}>): ReadonlyMap<string, string> {
  const all = Object.fromEntries(Array.from({ length: SECTIONS }, (_, at) => [`topic${at}`, 'full' as const]))
  const folded = bound.render({ delegation: true }).tools
  return new Map(
    [...bound.render({ visibility: all }).tools, ...folded].map(({ name, description, inputSchema }) => [
      name,
      JSON.stringify({ name, description, inputSchema }),
    ]),
  )
}

/** Tools that an opening adds are sent where it was. */
function toTexts({ system, messages, tools }: ScriptedRequest, definitions: ReadonlyMap<string, string>): string[] {
  const added = new Set(messages.flatMap((message) => (message.role === 'tools' ? message.names : [])))
  const define = (names: readonly string[]): string => names.map((name) => definitions.get(name) ?? '').join('\n')
  const said = messages.map((message) => (message.role === 'tools' ? define(message.names) : JSON.stringify(message)))
  return [define(tools.filter((name) => !added.has(name))), system, ...said]
}

function billAll({ conversations }: Work, price: Price, start: Start, rate: number): number {
  return conversations.reduce((sum, requests, at) => {
    const cost = bill(requests, price, { start, shared: 2 })
    return sum + (at === 0 ? cost : cost * rate)
  }, 0)
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
