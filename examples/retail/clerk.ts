// The recorded replies: what a careful clerk does in each case, written here. They show how a comparison works, and
// nothing about any model. In some cases the clerk is not careful, so that there is something to find.
import { estimatedTokens, type ProviderAdapter, type ToolCall } from 'foldout'
import { chatAdapter } from 'foldout/adapter'
import type { CompareCase, SimulatedUser } from 'foldout/compare'
import { getTask, type Task } from './cases.ts'

type Call = readonly [name: string, args: object]
type Reply = { readonly calls: Call } | { readonly says: string }

const DUTIES: Readonly<Record<Task['kind'], string>> = {
  cancel: 'cancel',
  address: 'change',
  payment: 'change',
  items: 'change',
  return: 'return',
  exchange: 'exchange',
  profile: 'profile',
  refuse: 'cancel',
  transfer: 'transfer',
}

/** In every fourth exchange, the clerk does not open the section about them, and says no. */
export const isCareless = ({ id }: CompareCase): boolean => id.startsWith('exchange-') && Number(id.slice(-3)) % 4 === 2

interface Situation {
  readonly task: CompareCase
  /** The tools that can be called now. */
  readonly tools: ReadonlySet<string>
  /** How often the customer has written. */
  readonly heard: number
  /** The calls since then, by name. */
  readonly made: readonly string[]
}

/** What the clerk does next. */
function reply({ task, tools, heard, made }: Situation): Reply {
  const { kind, call, email, order } = getTask(task)
  if (heard === 1) return { says: 'Gladly. Which email address do you use with us?' }
  if (heard === 2) {
    if (!made.includes('find_user_id_by_email')) return { calls: ['find_user_id_by_email', { email }] }
    if (!made.includes('get_order_details')) return { calls: ['get_order_details', { order_id: order }] }
    if (call === null) return { says: `Order ${order} is being sent already, so I cannot cancel it.` }
    const isFolded = !tools.has(call.name)
    if (isFolded && isCareless(task)) return { says: 'I am sorry, items that were delivered cannot be swapped.' }
    if (isFolded && !made.includes('read_section')) return { calls: ['read_section', { section_key: DUTIES[kind] }] }
    return { says: `I found order ${order}. Shall I do exactly what you asked for, yes or no?` }
  }
  if (call && !made.includes(call.name)) return { calls: [call.name, call.arguments] }
  return { says: 'It is done.' }
}

/** The adapter of the recorded replies of one case. It bills estimated tokens, like a provider without a cache. */
export function createClerk(task: CompareCase): ProviderAdapter {
  return chatAdapter({
    name: 'recorded',
    model: 'recorded replies',
    async complete({ system, tools, addedTools, messages }) {
      const last = messages.findLastIndex(({ role }) => role === 'user')
      const since = messages.slice(last + 1)
      const made = since.flatMap((each) => (each.role === 'assistant' ? each.toolCalls.map(({ name }) => name) : []))
      const heard = messages.filter(({ role }) => role === 'user').length
      const offered = [...tools, ...addedTools.values()]
      const next = reply({ task, tools: new Set(offered.map(({ name }) => name)), heard, made })
      const toolCalls: ToolCall[] =
        'calls' in next ? [{ id: `call-${messages.length}`, name: next.calls[0], arguments: next.calls[1] }] : []
      const text = 'says' in next ? next.says : ''
      const definitions = offered.map(({ name, description, inputSchema }) => [name, description, inputSchema])
      const inputTokens = estimatedTokens.count(JSON.stringify([system, definitions, messages]))
      const outputTokens = estimatedTokens.count(JSON.stringify([text, toolCalls]))
      const usage = { inputTokens, outputTokens, cachedInputTokens: 0, cacheWriteTokens: 0 }
      return { message: { role: 'assistant', text, toolCalls }, usage }
    },
  })
}

/** The customer of the recorded replies: says the email address, and then yes. */
export const recordedCustomer: SimulatedUser = ({ case: task, said, answers }) => {
  const asked = answers.at(-1) ?? ''
  if (said.length === 1 && /email/i.test(asked)) return `It is ${getTask(task).email}.`
  return /yes or no/i.test(asked) ? 'Yes, please.' : undefined
}
