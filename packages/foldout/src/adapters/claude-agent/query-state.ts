import { ignore } from '../../core/promises.ts'
import type { AnyTool } from '../../tools/tool.ts'
import {
  NO_USAGE,
  type Evaluation,
  type EvaluationResult,
  type Message,
  type ToolCall,
  type Usage,
} from '../contract.ts'
import { createReplyReader, type ReplyReader } from './replies.ts'
import type { ClaudeAgentSdk, SdkQuery, SdkSystemMessage } from './sdk.ts'
import type { ToolServer } from './tool-server.ts'
import { createTurns, type Turns } from './turns.ts'

/** The state that an evaluation keeps from one query to the next. */
export interface Progress {
  readonly conversation: Message[]
  /** Every tool offered so far, by name. */
  readonly offered: Map<string, AnyTool>
  usage: Usage
}

export interface QuerySettings {
  readonly sdk: ClaudeAgentSdk
  readonly evaluation: Evaluation
  readonly progress: Progress
  /** Whether the calls of one reply run together, or each when the executable requests it. */
  readonly runsTogether: boolean
  readonly relistTimeoutMs: number
  /** Whether a structured answer was requested from the executable. */
  readonly hasOutput: boolean
  /** Whether the executable keeps its session, so replies should record theirs. */
  readonly keepsSession: boolean
  /** Whether the query continues an earlier session. */
  readonly isResumed: boolean
  start(server: ToolServer, controller: AbortController): SdkQuery
  onInit(message: SdkSystemMessage): void
  /** Whether the executable can list tools again. */
  canRelist(): boolean
}

/** `restart`: this query can no longer offer some of the tools. */
export type QueryEnd = EvaluationResult | { readonly type: 'restart' }

/** A query while it runs. */
export interface QueryState {
  readonly settings: QuerySettings
  readonly replies: ReplyReader
  readonly turns: Turns
  /** The calls of the reply that is being streamed, by position. */
  readonly streamedCalls: Map<number, ToolCall>
  /** How the query ends. Everything after that is ignored. */
  readonly end: Deferred<QueryEnd>
  usage: Usage
  /** The session's id, once the executable has reported it. */
  session: string | undefined
  /** Why there is no reply, in the executable's words. */
  failureReason: string | undefined
  /**
   * Whether the next request is allowed. This is checked before the answer that lets the executable continue, and not
   * again afterwards.
   */
  isAllowed: boolean
  isTextShown: boolean
  isSent: boolean
  /** Whether the executable has reported that it is done. */
  isConcluded: boolean
  /** The timer that ends a reply without a stream when no more of it arrives. */
  quiet: ReturnType<typeof setTimeout> | undefined
}

export function createQueryState(settings: QuerySettings): QueryState {
  return {
    settings,
    replies: createReplyReader(),
    turns: createTurns(),
    streamedCalls: new Map(),
    end: createDeferred(),
    usage: NO_USAGE,
    session: undefined,
    failureReason: undefined,
    isAllowed: true,
    isTextShown: false,
    isSent: false,
    isConcluded: false,
    quiet: undefined,
  }
}

/** Adds a message to the conversation. */
export async function keepMessage({ settings }: QueryState, message: Message): Promise<void> {
  settings.progress.conversation.push(message)
  await settings.evaluation.record(message)
}

export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(this: void, value: T): void
  reject(this: void, error: unknown): void
  isSettled(): boolean
}

function createDeferred<T>(): Deferred<T> {
  let isSettled = false
  let settle: { resolve(value: T): void; reject(error: unknown): void } | undefined
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject }
  })
  void ignore(promise, 'those who wait for it see the rejection')
  return {
    promise,
    resolve: (value) => {
      isSettled = true
      settle?.resolve(value)
    },
    reject: (error) => {
      isSettled = true
      settle?.reject(error)
    },
    isSettled: () => isSettled,
  }
}
