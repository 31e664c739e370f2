import type { ModelEvent, ToolCall, Usage } from '../adapters/contract.ts'
import type { TokenCount } from '../core/tokens/tokens.ts'
import { defineEvent } from '../session/event.ts'
import type { CallTarget } from '../tools/tool.ts'

/** A prompt was rendered for a run. */
export interface PromptRendered {
  readonly tools: readonly string[]
  readonly full: readonly string[]
  readonly summarized: readonly string[]
}

/** A call of a tool has ended. */
export interface ToolInvoked {
  readonly callId: string
  readonly name: string
  readonly ok: boolean
  readonly message: string
  readonly durationMs: number
  /** For a tool that runs others: the one that ran in the end, and what it got. */
  readonly target?: CallTarget
  /** For disclosure tools: what was asked and how things stood. */
  readonly disclosure?: {
    readonly keys: readonly string[]
    readonly reason: string
    readonly full: readonly string[]
    readonly summarized: readonly string[]
  }
}

/** An opening has added tools to a conversation without a restart. */
export interface ToolsInjected {
  readonly names: readonly string[]
  readonly keys: readonly string[]
}

/** The prompt is rendered anew because the model opened something. */
export interface RunRestarted {
  readonly keys: readonly string[]
  readonly paths: readonly string[]
  readonly reason: string
  /** How many restarts there have been, this one included. */
  readonly expansions: number
}

// Dispatched in the session too, so that slices and logs can answer them.
export const promptRendered = defineEvent<PromptRendered>()('prompt/rendered')
export const toolInvoked = defineEvent<ToolInvoked>()('tool/invoked')
export const toolsInjected = defineEvent<ToolsInjected>()('tools/injected')
export const runRestarted = defineEvent<RunRestarted>()('run/expanded')

/** What a run tells while it goes on. */
export type AgentEvent =
  | ModelEvent
  | ({
      readonly type: 'prompt/rendered'
      readonly tokens: TokenCount
      readonly tokensIfAllOpen: TokenCount
    } & PromptRendered)
  /** `target` is what it comes down to, for a tool that runs others. */
  | { readonly type: 'tool/called'; readonly call: ToolCall; readonly target?: CallTarget }
  | ({ readonly type: 'tool/invoked' } & ToolInvoked)
  | ({ readonly type: 'tools/injected' } & ToolsInjected)
  | ({ readonly type: 'run/expanded' } & RunRestarted)
  | { readonly type: 'output/refused'; readonly message: string; readonly repairs: number }
  | { readonly type: 'run/finished'; readonly status: 'completed' | 'stopped'; readonly usage: Usage }
  /** The run has thrown; the code of the error, or its name. */
  | { readonly type: 'run/failed'; readonly errorType: string }
