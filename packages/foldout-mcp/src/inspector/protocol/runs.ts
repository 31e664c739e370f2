// The part of the protocol about runs. `../protocol.ts` imports it.

export type RunStatus = 'running' | 'completed' | 'stopped' | 'waiting' | 'failed' | 'unfinished'

export interface RunSummary {
  readonly kind: 'run'
  readonly id: string
  /** As `ns/key`; empty until the prompt is rendered. */
  readonly prompt: string
  readonly model: string
  readonly status: RunStatus
  readonly startedAt: number
  readonly durationMs: number
  /** What the user said, also if the run only continues after it. */
  readonly input: string
  readonly requests: number
  readonly openings: number
  readonly restarts: number
  readonly usage: TokenUsage
  /** What it cost in dollars at the user's prices; undefined if there are none. */
  readonly usd: number | undefined
  /** What the provider says it cost in dollars; undefined if it does not. */
  readonly reportedUsd: number | undefined
  /** The largest context of a request. */
  readonly peak: number
}

export interface TokenUsage {
  readonly input: number
  readonly output: number
  readonly cached: number
}

/** The overview of a run. Steps and messages are requested as they come into view. */
export interface RunView extends RunSummary {
  readonly steps: number
  readonly messages: number
  /** Requests that were sent again. */
  readonly retries: number
  /** Requests that read less from the cache than the one before. */
  readonly cacheMisses: number
  readonly output: string
  readonly window: number | undefined
  /** One for each request; fewer for runs of thousands. */
  readonly chart: readonly ChartPoint[]
  readonly openingList: readonly RunOpening[]
  /** Every tool that the run offered or could have offered. */
  readonly tools: readonly string[]
  /** Whether texts were recorded, so that there are messages and a run can be forked. */
  readonly hasTexts: boolean
  /** How many messages the run began with that were not recorded with it, such as earlier turns of a chat. */
  readonly earlier: number
  /** Lines that could not be read. */
  readonly skipped: number
}

export interface ChartPoint {
  /** From 1. */
  readonly request: number
  readonly context: number
  /** An estimate of what it would have been with every section open from the start. */
  readonly everything: number
  readonly cached: number
  readonly output: number
  /** Undefined if it was not recorded what the tokens are for. */
  readonly parts?: ContextParts | undefined
}

/** What the tokens of a request are for. */
export interface ContextParts {
  readonly system: number
  readonly tools: number
  /** The texts of sections that were opened in the conversation. */
  readonly sections: number
  readonly results: number
  readonly conversation: number
}

export interface RunOpening {
  readonly request: number
  readonly keys: readonly string[]
  readonly reason: string
  /** `'ahead'`: opened before the request, by the rule that `reason` names. */
  readonly answer: 'in-place' | 'restart' | 'none' | 'ahead'
  /** Whether a tool of sections that were opened ahead was called; undefined if they have no tools. */
  readonly isUsed?: boolean | undefined
}

export interface RunRange {
  readonly id: string
  readonly from: number
  readonly count: number
}

export type StepKind =
  | 'start'
  | 'render'
  | 'request'
  | 'reply'
  | 'call'
  | 'opening'
  | 'added'
  | 'restart'
  | 'fold'
  | 'retry'
  | 'miss'
  | 'approval'
  | 'note'
  | 'end'
  | 'list'
  | 'search'

export interface RunStep {
  readonly index: number
  readonly kind: StepKind
  /** Milliseconds since the run began. */
  readonly at: number
  readonly request: number
  readonly title: string
  readonly detail: string
  readonly isBad: boolean
  readonly usage: TokenUsage | undefined
  /** What a client of a gateway got; undefined in runs. */
  readonly answer: StepAnswer | undefined
  /** The messages with the results that were folded or read again, by index. */
  readonly results?: readonly number[] | undefined
}

/** How large an answer was, and how long it took, as far as that is known. */
export interface StepAnswer {
  readonly tokens: number | undefined
  readonly bytes: number | undefined
  readonly durationMs: number | undefined
}

export interface RunMessage {
  readonly index: number
  readonly role: 'system' | 'user' | 'assistant' | 'tool' | 'tools'
  readonly request: number
  /** The tool, for results. */
  readonly name: string
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
  readonly isBad: boolean
}

export interface WhyNot {
  readonly isOffered: boolean
  readonly reason: string
}

/** A new run that continues from a request of another run. */
export interface RunFork {
  /** The id of the new run. */
  readonly id: string
  /** Pass it to `runAgent`, beside the adapter: `{ state, visibility }`, as JSON. */
  readonly json: string
}
