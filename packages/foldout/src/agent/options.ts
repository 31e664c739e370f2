import type { AssistantMessage, Message, ProviderAdapter, ToolMessage, Usage } from '../adapters/contract.ts'
import type { TokenCounter } from '../core/tokens/tokens.ts'
import type { DisclosureStrategy } from '../disclosure/strategy.ts'
import type { PromptOverrides } from '../prompt/overrides/overrides.ts'
import type { RenderOptions } from '../prompt/prompt.ts'
import type { Session } from '../session/session.ts'
import type { Filesystem } from '../files/filesystem.ts'
import type { AgentEvent } from './events.ts'
import type { TokenLimits } from './limits.ts'
import type { Expansion, OpeningPolicy } from './policy.ts'
import type { RunState } from './loop/run-state.ts'

export interface AgentOptions<Keys extends string = string> {
  /** The model. */
  readonly adapter: ProviderAdapter
  /** What the user says. Left out when a run is resumed, or when the prompt says it all: the conversation then begins with `Begin.`. */
  readonly input?: string
  /** Where openings and the tools' state are kept. With the slice `agentRun` in it, the run can be resumed from it. */
  readonly session?: Session
  /** Goes on with a run that was stopped: the `state` of its result or error. */
  readonly state?: RunState
  /** How folded sections speak to the model. Default: the prompt's own. */
  readonly disclosure?: DisclosureStrategy
  /** As for `render`. */
  readonly visibility?: RenderOptions<Keys>['visibility']
  readonly overrides?: PromptOverrides
  readonly counter?: TokenCounter
  readonly budget?: RenderOptions['budget']
  /** The files that tools work on. */
  readonly filesystem?: Filesystem
  /** How many new renders the model's openings may cause. Default 10. */
  readonly maxExpansions?: number
  /** How many replies the model may give. Default 100. */
  readonly maxTurns?: number
  /** How often the model is asked to mend an answer that does not fit the prompt's output. Default 2. */
  readonly maxRepairs?: number
  /** Asked after each turn whose tools have run; true stops the run, which can be resumed. */
  readonly stopWhen?: (turns: readonly Turn[]) => boolean
  /** Default `'eager'`. */
  readonly opening?: OpeningPolicy
  readonly limits?: TokenLimits
  readonly deadline?: Date
  readonly signal?: AbortSignal
  /** How long one call of a tool may take. Default: as long as it likes. */
  readonly toolTimeoutMs?: number
  /** Openings that would not fit into so many tokens are refused. Default: what the adapter says of its model. */
  readonly contextWindow?: number
  /** Told of everything. What it throws is ignored: watching a run must not change it. */
  readonly onEvent?: (event: AgentEvent) => void
}

/** One reply of the model and what came of it. */
export type Turn =
  | { readonly type: 'answer'; readonly message: AssistantMessage }
  | { readonly type: 'tools'; readonly message: AssistantMessage; readonly results: readonly ToolMessage[] }
  /** Some of the calls opened sections, and the conversation went on with their tools. */
  | {
      readonly type: 'injection'
      readonly message: AssistantMessage
      readonly results: readonly ToolMessage[]
      readonly tools: readonly string[]
    }
  /** Some of the calls opened sections, and the prompt was rendered anew. */
  | {
      readonly type: 'restart'
      readonly message: AssistantMessage
      readonly results: readonly ToolMessage[]
      readonly expansion: Expansion
    }

export interface AgentResult<Output = unknown> {
  readonly status: 'completed' | 'stopped'
  /** Why it stopped, if it did. */
  readonly reason: 'max-turns' | 'stop-when' | undefined
  /** The model's last words. */
  readonly text: string
  /** The answer as the prompt's output schema gives it; `undefined` without one, or when the run was stopped. */
  readonly output: Output | undefined
  readonly messages: readonly Message[]
  /** What happened in this process, reply by reply. */
  readonly turns: readonly Turn[]
  /** Over all attempts. */
  readonly usage: Usage
  /** How often the prompt was rendered anew because the model opened something. */
  readonly expansions: number
  /** With this another process can go on. */
  readonly state: RunState
}
