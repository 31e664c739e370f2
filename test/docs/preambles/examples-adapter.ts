import type { ChatReply, ChatRequest, Evaluation, Message, ProviderAdapter, Usage } from 'foldout/adapter'

export declare const request: ChatRequest
export declare const evaluation: Evaluation
export declare const reply: ChatReply
export declare const replies: readonly ChatReply[]
export declare const usage: Usage
export declare const adapter: ProviderAdapter
export declare const url: string
export declare const body: string
export declare function askAcme(
  request: ChatRequest,
  emit?: ChatRequest['emit'],
  signal?: AbortSignal,
): Promise<ChatReply>
export declare function readReply(response: Response, emit: ChatRequest['emit']): Promise<ChatReply>
export declare function send(
  body: { readonly system: string; readonly messages: readonly Message[] },
  signal: AbortSignal,
): Promise<ChatReply>
export declare function complete(system: string, messages: readonly Message[], signal: AbortSignal): Promise<ChatReply>
