/**
 * Rules of the APIs that their types do not express but their servers enforce: who may speak after whom, and that
 * calls and results match. Each returns the problems.
 */
export type Rule = (body: Readonly<Record<string, unknown>>) => readonly string[]

interface ChatMessage {
  readonly role: string
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
  readonly tool_call_id?: string
}

export const chatRules: Rule = (body) => {
  const messages = body['messages'] as readonly ChatMessage[]
  const wrong: string[] = []
  let waiting: readonly string[] = []
  for (const [index, { role, tool_calls: calls = [], tool_call_id: id = '' }] of messages.entries()) {
    if (role === 'tool') {
      if (!waiting.includes(id)) wrong.push(`messages[${index}] answers '${id}', which no call before it has`)
      waiting = waiting.filter((call) => call !== id)
    } else {
      if (waiting.length > 0) wrong.push(`messages[${index}] comes before the results of ${waiting.join(', ')}`)
      waiting = calls.map((call) => call.id)
    }
    for (const call of calls)
      if (!isJsonObject(call.function.arguments))
        wrong.push(`messages[${index}] has a call whose arguments are not a JSON object`)
  }
  return [...wrong, ...unanswered(waiting), ...twice(messages.flatMap((message) => message.tool_calls ?? []))]
}

interface ResponsesItem {
  readonly type?: string
  readonly call_id?: string
}

export const responsesRules: Rule = (body) => {
  const items = body['input'] as readonly ResponsesItem[]
  const wrong: string[] = []
  const waiting = new Set<string>()
  for (const [index, { type, call_id: id = '' }] of items.entries()) {
    if (type === 'function_call') waiting.add(id)
    if (type === 'function_call_output' && !waiting.delete(id))
      wrong.push(`input[${index}] answers '${id}', which no call before it has`)
  }
  const calls = items.filter(({ type }) => type === 'function_call').map(({ call_id: id = '' }) => ({ id }))
  return [...wrong, ...unanswered([...waiting]), ...twice(calls)]
}

interface MessagesBlock {
  readonly type: string
  readonly id?: string
  readonly tool_use_id?: string
  readonly text?: string
}
interface MessagesMessage {
  readonly role: string
  readonly content: readonly MessagesBlock[]
}

const MOST_CACHE_BREAKPOINTS = 4

export const messagesRules: Rule = (body) => {
  const messages = body['messages'] as readonly MessagesMessage[]
  const wrong: string[] = []
  let waiting: readonly string[] = []
  for (const [index, { role, content }] of messages.entries()) {
    const results = content.filter(({ type }) => type === 'tool_result')
    const answered = results.map(({ tool_use_id: id = '' }) => id)
    const at = `messages[${index}]`
    if (waiting.toSorted().join() !== answered.toSorted().join())
      wrong.push(`${at} does not answer just ${waiting.join()}`)
    if (content.slice(0, results.length).some(({ type }) => type !== 'tool_result'))
      wrong.push(`${at} has results behind other blocks`)
    if (content.length === 0) wrong.push(`${at} is empty`)
    if (content.some(({ type, text }) => type === 'text' && text?.trim() === '')) wrong.push(`${at} has an empty text`)
    if (role === messages[index - 1]?.role) wrong.push(`${at} has the role of the message before it`)
    if (role === 'system' && messages[index - 1]?.role !== 'user')
      wrong.push(`${at} adds tools, but not behind the user`)
    waiting = content.filter(({ type }) => type === 'tool_use').map(({ id = '' }) => id)
  }
  if (messages[0]?.role !== 'user') wrong.push('the user does not begin')
  if (messages.at(-1)?.role === 'assistant') wrong.push('the model has the last word')
  const breakpoints = JSON.stringify(body).split('"cache_control"').length - 1
  if (breakpoints > MOST_CACHE_BREAKPOINTS) wrong.push(`there are ${breakpoints} cache breakpoints`)
  return [...wrong, ...twice(messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_use')))]
}

/** For all APIs: tool names must be valid and unique. */
export function toolNameRules(names: readonly string[]): readonly string[] {
  const bad = names.filter((name) => !/^[\w-]{1,64}$/.test(name)).map((name) => `'${name}' cannot name a tool`)
  return [...bad, ...twice(names.map((id) => ({ id })))]
}

function unanswered(ids: readonly string[]): readonly string[] {
  return ids.map((id) => `the call '${id}' has no result`)
}

function twice(calls: readonly { readonly id?: string }[]): readonly string[] {
  const ids = calls.map(({ id }) => id)
  return ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `'${id}' is there twice`)
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
