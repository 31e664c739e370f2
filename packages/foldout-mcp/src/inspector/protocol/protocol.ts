/**
 * The protocol between the inspector's page and its server, and the only file that both import. Texts of
 * prompts, tools and models travel as strings in JSON; the page shows them as text only.
 */

import type { CompareReport } from 'foldout/compare'
import type { ChartPoint, RunFork, RunMessage, RunRange, RunStep, RunSummary, RunView, WhyNot } from './runs.ts'

export type { ArmReport, CaseReport, CompareCell, CompareReport, CompareVerdict } from 'foldout/compare'
export type * from './runs.ts'

export const VIEWS = ['prompt', 'compare', 'runs', 'catalog', 'advice'] as const
export type ViewName = (typeof VIEWS)[number]

/** What can change while the page is open: each view, and the calls that wait for an approval. */
export type Topic = ViewName | 'approvals'

export const STRATEGIES = ['read-section', 'open-sections', 'open-or-read', 'context-files'] as const
export type StrategyName = (typeof STRATEGIES)[number]

/** Sent to the page first whenever it connects. */
export interface Hello {
  readonly version: string
  /** What is inspected, such as the name of a file. */
  readonly title: string
  /** The views that have something to show. The first is shown first. */
  readonly views: readonly ViewName[]
  /** What can change. Calls can wait for an approval only if it is told of them. */
  readonly topics: readonly Topic[]
}

/** Sent to the page as it happens. */
export type ServerEvent = ({ readonly type: 'hello' } & Hello) | { readonly type: 'changed'; readonly topic: Topic }

/** The page's requests: `POST api/<name>` with a JSON body. */
export interface Actions {
  'prompt/render': { readonly request: PromptRequest; readonly response: PromptView }
  /** Recorded runs, and clients of a gateway. */
  'runs/list': { readonly request: Nothing; readonly response: readonly (RunSummary | ClientSummary)[] }
  'runs/get': { readonly request: { readonly id: string }; readonly response: RunView | ClientView }
  'runs/steps': { readonly request: RunRange; readonly response: readonly RunStep[] }
  'runs/messages': { readonly request: RunRange; readonly response: readonly RunMessage[] }
  /** Why a tool was not offered in a request. */
  'runs/why': {
    readonly request: { readonly id: string; readonly request: number; readonly tool: string }
    readonly response: WhyNot
  }
  'runs/fork': {
    readonly request: { readonly id: string; readonly request: number }
    readonly response: RunFork
  }
  /** Lines of a recorder in another process. */
  'runs/record': { readonly request: { readonly lines: readonly unknown[] }; readonly response: Nothing }
  'compare/get': { readonly request: Nothing; readonly response: CompareView }
  'advice/get': { readonly request: Nothing; readonly response: AdviceView }
  'catalog/get': { readonly request: Nothing; readonly response: CatalogView }
  'catalog/tool': { readonly request: { readonly name: string }; readonly response: ToolDetail }
  'catalog/search': {
    readonly request: { readonly query: string; readonly limit: number }
    readonly response: SearchView
  }
  /** Why a search did or did not find a tool. */
  'catalog/explain': {
    readonly request: { readonly query: string; readonly name: string }
    readonly response: SearchReason | null
  }
  'catalog/exposures': { readonly request: Nothing; readonly response: readonly ExposureRow[] }
  'approvals/list': { readonly request: Nothing; readonly response: readonly ApprovalRow[] }
  /** Decides on the call that was shown, and on no other. */
  'approvals/answer': {
    readonly request: { readonly id: string; readonly seen: string; readonly isApproved: boolean }
    readonly response: Nothing
  }
  'catalog/call': {
    readonly request: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
    readonly response: CallView
  }
}
export type Nothing = Readonly<Record<string, never>>
export type ActionName = keyof Actions
export type ActionRequest<Name extends ActionName> = Actions[Name]['request']
export type ActionResponse<Name extends ActionName> = Actions[Name]['response']

/** The answer to an action that failed. */
export interface ActionFailure {
  readonly error: string
}

export type SectionState = 'open' | 'folded'

export interface PromptRequest {
  /** The visibility of sections that differs from the prompt's own, by path. */
  readonly visibility: Readonly<Record<string, SectionState>>
  /** Default: the prompt's own. */
  readonly strategy?: StrategyName | undefined
}

/** A prompt as a model sees it, with what each part costs. */
export interface PromptView {
  readonly name: string
  readonly strategy: string
  readonly counter: { readonly name: string; readonly exact: boolean }
  readonly tokens: TokenTotals
  readonly tokensIfAllOpen: TokenTotals
  /** All enabled sections in the order of the prompt, also those inside folded ones. */
  readonly sections: readonly SectionRow[]
  readonly tools: readonly PromptTool[]
  readonly text: string
  /** Where each section is in the text. */
  readonly spans: readonly TextSpan[]
  readonly findings: readonly FoldFinding[]
}

export interface TokenTotals {
  readonly total: number
  readonly text: number
  readonly tools: number
}

export interface SectionRow {
  readonly path: string
  readonly number: string
  readonly title: string
  readonly depth: number
  /** `hidden`: inside a section that is folded. */
  readonly state: SectionState | 'hidden'
  readonly canFold: boolean
  /** Tokens of its own text as it is shown now; 0 while it is hidden. */
  readonly own: number
  /** Tokens of everything at and below it as it is shown now, with tools. */
  readonly subtree: number
  /** Tokens at and below it once it is open, with tools. */
  readonly ifOpen: number
  /** Tokens if it is folded; undefined if it cannot be. */
  readonly ifFolded: number | undefined
  readonly tools: readonly string[]
}

export interface PromptTool {
  readonly name: string
  readonly description: string
  readonly tokens: number
  /** The section that offers it; undefined for the tools that open sections. */
  readonly section: string | undefined
}

export interface TextSpan {
  readonly path: string
  readonly state: SectionState
  readonly start: number
  readonly end: number
}

/** What the fold linter found. */
export interface FoldFinding {
  readonly kind: 'costs-more-folded' | 'fold' | 'write-summary' | 'folding-costs-more' | 'show-cheap'
  readonly path: string | undefined
  /** Tokens that the change saves in every request. */
  readonly saves: number
  readonly message: string
}

export interface CatalogView {
  readonly servers: readonly ServerRow[]
  /** Sorted by name. */
  readonly tools: readonly ToolRow[]
  readonly broken: readonly { readonly server: string; readonly name: string; readonly reason: string }[]
  /** What listing every tool costs. */
  readonly tokens: number
  readonly counter: { readonly name: string; readonly exact: boolean }
}

export interface ServerRow {
  readonly name: string
  readonly state: 'stopped' | 'starting' | 'running' | 'failed'
  /** Why it failed. */
  readonly reason: string | undefined
  /** How many calls it is working on. */
  readonly calls: number
  /** When it may be tried again, in milliseconds since 1970; undefined if it has not failed. */
  readonly retryAt: number | undefined
  /** Whether it only needs a sign-in to work. */
  readonly needsSignIn: boolean
  /** Undefined until they are known. */
  readonly tools: number | undefined
  readonly tokens: number
}

/** A call that waits for the user. */
export interface ApprovalRow {
  readonly id: string
  /** Names everything that is shown of the call, so that nothing else can be approved in its place. */
  readonly seen: string
  readonly tool: string
  readonly arguments: string
  readonly client: string | undefined
  readonly user: string | undefined
  readonly preset: string
  readonly reason: string | undefined
  readonly askedAt: string
  readonly expiresAt: number
}

export interface ToolRow {
  readonly name: string
  readonly server: string
  readonly summary: string
  readonly tokens: number
  readonly isReadOnly: boolean
}

export interface ToolDetail {
  readonly name: string
  readonly qualified: string
  readonly declared: string
  readonly server: string
  readonly title: string | undefined
  readonly description: string
  readonly signature: string
  readonly tokens: number
  readonly isReadOnly: boolean
  /** Whether it may destroy something, as far as its server says. */
  readonly isDestructive: boolean
  readonly inputSchema: Readonly<Record<string, unknown>>
}

export interface SearchView {
  readonly query: string
  readonly fit: 'good' | 'weak' | 'none'
  /** The names of the next tools after the hits. */
  readonly alsoNear: readonly string[]
  readonly confidence: number
  /** Why the encoder did not take part. */
  readonly withoutEncoder: string | undefined
  readonly hits: readonly FoundTool[]
}

export interface FoundTool {
  readonly name: string
  readonly server: string
  readonly summary: string
  readonly score: number
  readonly explanation: SearchReason
}

/** What each word of a query, and its meaning, added to a score. */
export interface SearchReason {
  readonly score: number
  readonly words: readonly {
    readonly word: string
    readonly matched: string
    readonly fields: readonly string[]
    readonly score: number
    readonly how: 'stem' | 'spelling' | 'part' | 'action' | 'kind' | 'meaning'
  }[]
  readonly meaning: number
  readonly named: boolean
}

export interface ExposureRow {
  readonly name: string
  readonly tools: number
  readonly listTokens: number
  readonly instructionTokens: number
  readonly tokens: number
  readonly saved: number
  readonly findTokens: number
  readonly breakEven: number | null
  readonly problem: string | undefined
}

/** The outcome of a tool call. */
export interface CallView {
  readonly isError: boolean
  readonly durationMs: number
  readonly parts: readonly string[]
  readonly structured: string | undefined
}

/** What recorded use says about a prompt and about a catalog. */
export interface AdviceView {
  /** How many runs were recorded. */
  readonly runs: number
  readonly hasPrompt: boolean
  /** How many of the runs are of the prompt. */
  readonly promptRuns: number
  /** How many runs of the prompt advice needs. */
  readonly minRuns: number
  readonly items: readonly AdviceItem[]
  /** Which tools of the catalog are worth listing; null without a catalog. */
  readonly core: CoreView | null
}

export interface AdviceItem {
  readonly type: 'show-all' | 'show-section' | 'fold-section' | 'offer-tool' | 'delegate-section' | 'refold'
  readonly path: string | undefined
  readonly tool: string | undefined
  readonly runs: number
  readonly used: number
  readonly saved: { readonly tokens: number; readonly requests: number; readonly restarts: number }
  readonly message: string
  /** What the first request of a run begins with. */
  readonly before: TokenTotals
  readonly after: TokenTotals | undefined
}

export interface CoreView {
  readonly core: readonly string[]
  readonly saved: { readonly tokens: number; readonly roundTrips: number }
  readonly spent: { readonly tokens: number; readonly roundTrips: number }
  readonly tools: readonly {
    readonly name: string
    readonly core: boolean
    readonly uses: number
    readonly clients: number
    readonly costs: number
    readonly saves: { readonly tokens: number; readonly roundTrips: number }
  }[]
  readonly isEnough: boolean
  readonly summary: string
}

/** What one client of a gateway did. Long ones come in parts. */
export interface ClientSummary {
  readonly kind: 'client'
  readonly id: string
  /** The client's name for itself; empty if it is unknown, or if several clients share an id. */
  readonly name: string
  readonly user: string
  readonly preset: string
  /** From 1; a client that did a lot has several. */
  readonly part: number
  readonly startedAt: number
  readonly lastAt: number
  readonly figures: ClientFigures
}

export interface ClientFigures {
  readonly lists: number
  readonly searches: number
  /** Definitions and folded results that it opened. */
  readonly openings: number
  readonly calls: number
  /** Calls that failed, or were not allowed. */
  readonly failed: number
  /** Calls that a rule stopped, or asked about. */
  readonly held: number
  /** Tokens of the tools that it lists now. */
  readonly listed: number
  /** Tokens of the answers that it got. */
  readonly answered: number
  /** What it would list if it were given every tool; undefined if that was not recorded. */
  readonly everything: number | undefined
}

/** The part of a client's data that is shown first. The page requests steps as they come into view. */
export interface ClientView extends ClientSummary {
  readonly steps: number
  /** One point per step; fewer if there are thousands of steps. */
  readonly chart: readonly ChartPoint[]
  /** Lines that could not be read. */
  readonly skipped: number
}

/** A comparison of ways to run an agent, from its saved file. */
export interface CompareView {
  /** Undefined until the file has enough to say anything. */
  readonly report: CompareReport | undefined
  /** Why there is no report. */
  readonly problem: string | undefined
}
