import type { ContextParts, TokenUsage } from '../protocol/protocol.ts'
import type { EventOf, RunEvent } from './lines.ts'

export interface ModelStep {
  readonly at: number
  readonly request: number
  readonly event: RunEvent | { readonly type: 'cache/missed'; readonly lost: number; readonly cause: string }
}

export interface ModelRequest {
  readonly tools: readonly string[]
  /** How many messages the conversation had when it was sent. */
  readonly messages: number
  readonly render: EventOf<'prompt/rendered'> | undefined
  /** What openings have brought into the conversation so far, in tokens. */
  readonly opened: number
  readonly conversation: number
  /** What its tokens are for, as the run has counted them. */
  readonly parts: ContextParts | undefined
  usage: TokenUsage | undefined
}

/** What a request had to read: as billed, or estimated if nothing was. */
export function getContext({ usage, render, conversation }: ModelRequest): number {
  const input = usage?.input ?? 0
  if (input > 0) return input
  return (render?.tokens.total ?? 0) + conversation
}

/** The parts of a request add up to what was billed for it. */
export function scaleParts(parts: ContextParts, context: number): ContextParts {
  const { system, tools, sections, results, conversation } = parts
  const scale = context / Math.max(1, system + tools + sections + results + conversation)
  const counts = [system, tools, sections, results].map((count) => Math.round(scale * count))
  const [ofSystem = 0, ofTools = 0, ofSections = 0, ofResults = 0] = counts
  const rest = Math.max(0, context - ofSystem - ofTools - ofSections - ofResults)
  return { system: ofSystem, tools: ofTools, sections: ofSections, results: ofResults, conversation: rest }
}

/** Providers keep a prefix at least as long. */
const KEPT_MS = 300_000

/** Explains why the last request did not find in the cache what the request before it had found there. */
export function explainMiss(steps: readonly ModelStep[], requests: readonly ModelRequest[]): string {
  const [before, last] = requests.slice(-2)
  const from = steps.findLastIndex(({ event, request }) => event.type === 'reply/received' && request < requests.length)
  const between = steps.slice(from + 1)
  const has = (type: ModelStep['event']['type']): boolean => between.some(({ event }) => event.type === type)
  if (!before || !last) return 'Nothing before this request is known.'
  if (has('run/expanded')) return 'An opening restarted the run, so the prompt was rendered again.'
  if (has('results/folded')) return 'Results were folded, so the messages after them changed.'
  if (!hasSameText(before, last)) return 'The system text changed.'
  const removed = before.tools.filter((name, at) => last.tools[at] !== name)
  if (removed.length > 0) return `The list of tools changed: ${removed.join(', ')}.`
  const waited = getTime(steps, 'request/sent') - (steps[from]?.at ?? 0)
  if (waited > KEPT_MS) return `${Math.round(waited / 60_000)} minutes had passed, and the cache may have expired.`
  const added = last.tools.slice(before.tools.length)
  if (added.length > 0) return `Tools were added to the list, which providers read first: ${added.join(', ')}.`
  return 'Nothing that the request begins with changed, so the provider has dropped it.'
}

function getTime(steps: readonly ModelStep[], type: ModelStep['event']['type']): number {
  return steps.findLast(({ event }) => event.type === type)?.at ?? 0
}

/** A recording may leave texts out. */
function hasSameText({ render: before }: ModelRequest, { render: now }: ModelRequest): boolean {
  return before?.text === now?.text && before?.tokens.text === now?.tokens.text
}
