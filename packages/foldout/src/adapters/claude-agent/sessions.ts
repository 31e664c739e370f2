import { sha256Hex } from '../../core/hash.ts'
import { isObject } from 'foldout-shared/values'
import type { AssistantMessage, Message } from '../contract.ts'
import type { SdkPrompt } from './sdk.ts'
import { toPrompt } from './transcript.ts'

const ADAPTER = 'claude-agent'

/** Marks a reply with the session that it ends, so a later query can continue from there. */
export function withSession(
  message: AssistantMessage,
  session: string,
  conversation: readonly Message[],
): AssistantMessage {
  const content = { session, conversation: identify([...conversation, message]) }
  return { ...message, native: { adapter: ADAPTER, content } }
}

/** A session that contains a whole conversation except its last message, which is the user's. */
export interface Resumption {
  readonly session: string
  readonly prompt: SdkPrompt
}

/** Finds the session to resume, if the conversation still matches it. */
export function findResumption(messages: readonly Message[]): Resumption | undefined {
  const user = messages.at(-1)
  const reply = messages.at(-2)
  if (user?.role !== 'user' || reply?.role !== 'assistant' || reply.native?.adapter !== ADAPTER) return undefined
  const { content } = reply.native
  if (!isObject(content) || typeof content['session'] !== 'string') return undefined
  if (content['conversation'] !== identify(messages.slice(0, -1))) return undefined
  return { session: content['session'], prompt: toPrompt(user) }
}

function identify(messages: readonly Message[]): string {
  return sha256Hex(JSON.stringify(messages, (key, value: unknown) => (key === 'native' ? undefined : value)))
}

/** Whether the executable does not have the session: it may have run on another machine, or its files may be gone. */
export function isSessionLost(error: unknown): boolean {
  return error instanceof Error && /no conversation found|session.{0,80}not found/i.test(error.message)
}
