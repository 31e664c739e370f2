import type { TokenCounter } from 'foldout'
import type { Piece } from '../chat/caches.ts'
import { CHAT_AGENT, recordChat } from '../chat/chat.ts'
import { GROWING_PROVIDERS } from '../chat/providers.ts'
import { goal, type Goal, type Row } from '../report.ts'
import { bill, OUTPUT_RATE, PRICES } from './billing.ts'

/** The chat with one constant tool, and with a list that grows. */
export async function computeThrough(
  counter: TokenCounter,
): Promise<{ readonly rows: readonly Row[]; readonly goals: readonly Goal[] }> {
  const rows: Row[] = []
  const goals: Goal[] = []
  for (const { growing, through } of GROWING_PROVIDERS) {
    const plain = await recordChat(growing, { isFolded: true, counter })
    const constant = await recordChat(through, { isFolded: true, counter })
    // A call through the constant tool is longer, and the model writes it.
    const output = (countCalls(constant) - countCalls(plain)) * OUTPUT_RATE
    for (const price of PRICES) {
      for (const start of ['cold', 'warm'] as const) {
        const grown = bill(plain, price, { start, shared: countShared(plain) })
        const called = bill(constant, price, { start, shared: countShared(constant) }) + output
        const agent = `${CHAT_AGENT}, ${price.name}, ${start}`
        const row = { agent, strategy: 'readSection', requests: plain.length }
        rows.push(
          { ...row, adapter: growing.name, billed: Math.round(grown) },
          { ...row, adapter: through.name, billed: Math.round(called), billedSaving: percent(1 - called / grown) },
        )
        goals.push(goal(`${agent}, ${through.name}, as a share of a growing list`, called / grown, '<=', 1))
      }
    }
  }
  return { rows, goals }
}

type Requests = readonly (readonly Piece[])[]

/** The tokens of all calls that the model wrote. */
function countCalls(requests: Requests): number {
  const calls = requests.at(-1)?.filter(({ text }) => /"tool_calls"|"tool_use"/.test(text)) ?? []
  return calls.reduce((sum, { tokens }) => sum + tokens, 0)
}

/** What all conversations begin with: everything before the first message of the user. */
function countShared([first = []]: Requests): number {
  return first.findIndex(({ text }) => text.includes('"role":"user"'))
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
