// The tokens that a model reads in a conversation: with every tool listed, and with most of them hidden.
import type { TokenCounter } from 'foldout'
import { question, type Conversation, type Exchange, type Opening } from './conversation.ts'

export interface TableRow {
  readonly label: string
  readonly everything: number
  readonly hybrid: number
  /** In percent. */
  readonly saved: number
}

export function tokenTable(
  { everything, hybrid }: { readonly everything: Conversation; readonly hybrid: Conversation },
  counter: TokenCounter,
): readonly TableRow[] {
  const row = (label: string, cost: (conversation: Conversation) => number): TableRow => {
    const [before, after] = [cost(everything), cost(hybrid)]
    return { label, everything: before, hybrid: after, saved: Math.round((1 - after / before) * 100) }
  }
  return [
    row('tools/list', ({ tools }) => listTokens(tools, counter)),
    row('before the first question: list, instructions', (opening) => openingTokens(opening, counter)),
    row('list, instructions, search, use', ({ exchanges, ...opening }) =>
      contextTokens({ ...opening, exchanges: exchanges.filter(({ call }) => call.name !== 'get_states') }, counter),
    ),
    row('the whole conversation', (conversation) => contextTokens(conversation, counter)),
    row('input of all its requests', (conversation) => inputTokens(conversation, counter)),
  ]
}

/** A model is shown a tool's name, description and schema. */
export function listTokens(tools: Opening['tools'], counter: TokenCounter): number {
  return total(
    tools.map(({ name, description, inputSchema }) =>
      counter.count(JSON.stringify({ name, description, inputSchema })),
    ),
  )
}

function openingTokens({ tools, instructions }: Opening, counter: TokenCounter): number {
  return listTokens(tools, counter) + counter.count(instructions)
}

function exchangeTokens({ call, answer }: Exchange, counter: TokenCounter): number {
  return counter.count(JSON.stringify(call)) + counter.count(answer)
}

/** Everything the model has read by its last answer, except the question. */
export function contextTokens(conversation: Conversation, counter: TokenCounter): number {
  const exchanged = conversation.exchanges.map((exchange) => exchangeTokens(exchange, counter))
  return openingTokens(conversation, counter) + total(exchanged)
}

/** Each request sends the whole conversation again. */
function inputTokens(conversation: Conversation, counter: TokenCounter): number {
  const { exchanges } = conversation
  const sofar = Array.from({ length: exchanges.length + 1 }, (_, done) => exchanges.slice(0, done))
  return total(
    sofar.map((past) => counter.count(question) + contextTokens({ ...conversation, exchanges: past }, counter)),
  )
}

export function tableText(rows: readonly TableRow[]): string {
  const lines = [
    ['tokens', 'everything', 'hybrid', 'saved'],
    ...rows.map(({ label, everything, hybrid, saved }) => [label, figure(everything), figure(hybrid), `${saved} %`]),
  ]
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)))
  return lines
    .map((cells) =>
      cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]! + 3))).join(''),
    )
    .join('\n')
}

function figure(count: number): string {
  return count.toLocaleString('en')
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}
