import type { AssistantMessage, Message, ToolCall, UserMessage } from '../../adapters/contract.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import type { Session } from '../../session/session.ts'
import type { HeldLease } from '../../session/stores/lease.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { AgentEvent } from '../events.ts'
import type { AgentOptions, AgentTurn } from '../options.ts'
import type { RunJournal } from './session/journal.ts'
import type { RunSignal } from './session/run-signal.ts'
import type { DelegateRun } from '../state/run-state.ts'
import type { AskOutcome } from './calls/call.ts'
import type { Toolbox } from './calls/toolbox.ts'
import type { TurnContext } from './calls/turn.ts'
import type { RunAhead } from '../ahead/run-ahead.ts'
import type { ContextCount } from '../refold/context-count.ts'
import type { DueFold, Refold } from '../refold/refold.ts'

/** The text and the tools that a conversation began with. */
export interface Offer {
  readonly system: string
  readonly tools: readonly AnyTool[]
}

/**
 * Records messages of a conversation. They are stored before the next request is sent, a call begins or the run ends.
 */
export interface Scribe {
  /** The model's last reply. */
  readonly lastReply: AssistantMessage | undefined
  say(message: Message): void
}

/** How a run has others answer questions about sections, and which run it answers itself. */
export interface Delegation {
  ask(core: RunCore, call: ToolCall): Promise<AskOutcome>
  /** Creates the run that answers a question, as far as it has come. */
  open(core: RunCore, delegate: DelegateRun): RunCore | undefined
  /** The run that asks. */
  readonly asker?: RunCore
}

/** The state that the parts of a run share. */
export interface RunCore {
  readonly bound: Pick<BoundPrompt, 'render'>
  readonly delegation: Delegation
  /** The run whose question this one answers, if it does. */
  readonly asker: RunCore | undefined
  readonly options: AgentOptions
  /** The user input, if any. */
  readonly input: UserMessage | undefined
  readonly session: Session
  readonly journal: RunJournal
  readonly signal: RunSignal
  readonly scribe: Scribe
  readonly toolbox: Toolbox
  /** Counts the tokens of requests. */
  readonly context: ContextCount
  /** Opens sections before the first request for the input. */
  readonly ahead: RunAhead
  /** Folds results, and keeps requests within the window. */
  readonly refold: Refold
  /** What is folded before the next request, if that is decided. */
  due: DueFold | undefined
  /** The tool that reads folded results. */
  readonly readResult: AnyTool
  readonly turn: TurnContext
  /** The turns in this process, one for each reply. */
  readonly turns: AgentTurn[]
  /** User messages that go after the results of calls that another process left unfinished. */
  readonly held: Message[]
  /** The prompt as last rendered for a request. */
  rendered: RenderedPrompt
  /** The text and tools that each request begins with. */
  offer: Offer
  /**
   * Whether the next evaluation must render the prompt again instead of continuing with the start of the conversation.
   */
  mustRender: boolean
  /** The turn whose calls are running, or the last one. It ends on its own when the run is cancelled. */
  running: Promise<unknown> | undefined
  /** The lease of the session, if it is in a store. */
  lease: HeldLease | undefined
  /** Why the run must not go on, if another process has taken its session. */
  lost: Error | undefined
  /** Renders the prompt for the current state of the session. */
  render(): RenderedPrompt
  /** Throws if the run must not continue. */
  check(): void
  tell(event: AgentEvent): void
  /** Releases the session, and stops listening to signals. */
  release(): void
}
