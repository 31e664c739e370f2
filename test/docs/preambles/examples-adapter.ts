import type { ChatReply, ChatRequest, Evaluation, Message, Usage } from 'foldout/adapter'

export const usage: Usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0 }
export const reply: ChatReply = { message: { role: 'assistant', text: 'Hello.', toolCalls: [] }, usage }
export const replies: readonly ChatReply[] = [reply, reply]
export const request: ChatRequest = {
  system: 'You help customers.',
  messages: [{ role: 'user', text: 'Hello?' }],
  tools: [],
  addedTools: new Map(),
  output: undefined,
  signal: new AbortController().signal,
  emit: () => undefined,
}
export const evaluation: Pick<Evaluation, 'callTools'> = {
  callTools: async () => ({ type: 'continue', results: [], added: [] }),
}
export const body = '{}'
export const askAcme = async (
  _request: ChatRequest,
  _emit?: ChatRequest['emit'],
  _signal?: AbortSignal,
): Promise<ChatReply> => reply
export const readReply = async (_response: Response, _emit: ChatRequest['emit']): Promise<ChatReply> => reply
export const send = async (
  _body: { readonly system: string; readonly messages: readonly Message[] },
  _signal: AbortSignal,
): Promise<ChatReply> => reply
export const complete = async (
  _system: string,
  _messages: readonly Message[],
  _signal: AbortSignal,
): Promise<ChatReply> => reply
