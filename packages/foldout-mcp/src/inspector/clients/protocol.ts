// What the page is told about clients of a gateway: a part of `../protocol.ts`, by which it is imported.

import type { ChartPoint } from '../runs/protocol.ts'

/** What one client of a gateway did. Long ones come in parts. */
export interface ClientSummary {
  readonly kind: 'client'
  readonly id: string
  /** As it calls itself; empty if that is not known, or several share an id. */
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

/** What is shown of a client at once. Steps are asked for as they come into view. */
export interface ClientView extends ClientSummary {
  readonly steps: number
  /** One for each thing that it did; fewer for thousands. */
  readonly chart: readonly ChartPoint[]
  /** Lines that could not be read. */
  readonly skipped: number
}
