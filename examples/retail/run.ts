// Compares three ways to run the desk of a shop on 114 cases: everything open, everything folded, and folded with one
// section opened ahead. With ANTHROPIC_API_KEY or OPENAI_API_KEY, a model is the desk and the customer; without a key,
// replies that are recorded in clerk.ts are, which says nothing about models.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { bySearch, type ProviderAdapter } from 'foldout'
import {
  compare,
  formatComparison,
  graders,
  simulateUser,
  type CompareArm,
  type ComparePrices,
  type CompareReport,
} from 'foldout/compare'
import { cases, createWorld, readState } from './cases.ts'
import { createClerk, isCareless, recordedCustomer } from './clerk.ts'
import { createDesk } from './desk.ts'
import type { Store } from './store.ts'

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    cases: { type: 'string', default: String(cases.length) },
    repeat: { type: 'string', default: '1' },
    budget: { type: 'string' },
    prices: { type: 'string' },
    save: { type: 'string' },
  },
})

const createAdapter = await findModel()
const chosen = cases.slice(0, Number(values.cases))
const arms: Readonly<Record<string, CompareArm<Store>>> = {
  full: { prompt: ({ world }) => createDesk(world), open: 'all' },
  folded: { prompt: ({ world }) => createDesk(world) },
  ahead: { prompt: ({ world }) => createDesk(world), open: bySearch({ max: 1 }) },
}
const report = await compare<Store>({
  cases: chosen,
  arms,
  adapter: ({ case: task }) => createAdapter?.() ?? createClerk(task),
  user: createAdapter ? simulateUser(createAdapter) : recordedCustomer,
  world: createWorld,
  grade: { done: graders.state(({ world }) => readState(world)) },
  repeat: Number(values.repeat),
  perHour: 40,
  ...(values.prices && { prices: JSON.parse(readFileSync(values.prices, 'utf8')) as ComparePrices }),
  ...(values.budget && { budget: Number(values.budget) }),
  ...(values.save && { save: values.save }),
})

if (!createAdapter)
  console.log('RECORDED REPLIES, not a model: set ANTHROPIC_API_KEY or OPENAI_API_KEY to compare one.\n')
console.log(formatComparison(report))
if (!createAdapter) checkRecorded(report)

async function findModel(): Promise<(() => ProviderAdapter) | undefined> {
  const { ANTHROPIC_API_KEY, OPENAI_API_KEY } = process.env
  if (ANTHROPIC_API_KEY) {
    const { anthropic } = await import('foldout/anthropic')
    return () => anthropic({ model: values.model ?? 'claude-sonnet-5-5' })
  }
  if (!OPENAI_API_KEY) return undefined
  const { openai } = await import('foldout/openai')
  return () => openai({ model: values.model ?? 'gpt-5.4' })
}

/** The recorded replies have one flaw, and the comparison has to find it. */
function checkRecorded({ arms: { full, folded, ahead } }: CompareReport): void {
  const careless = chosen.filter(isCareless).length
  assert(full && folded && ahead)
  assert.equal(full.success, 1)
  assert.equal(full.errors + folded.errors + ahead.errors, 0)
  assert.equal(Math.round((1 - folded.success) * chosen.length), careless)
  if (careless > 0) {
    const [worst] = folded.openings.sections
    assert.deepEqual([worst?.path, worst?.missedInFailures], ['exchange', careless])
  }
  assert(folded.inputTokens < full.inputTokens)
  assert(ahead.requests <= folded.requests)
}
