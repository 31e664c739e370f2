import { estimatedTokens } from 'foldout'
import type { RunOpening } from '../protocol/protocol.ts'
import type { EventOf } from './lines.ts'

/** What a run opened: because the model asked, or ahead of a request. */
export class Openings {
  readonly list: RunOpening[] = []
  /** What openings have brought into the conversation since the last render, in tokens. */
  tokens = 0
  /** How often an opening restarted the run. */
  restarts = 0
  /** Openings ahead, with the tools that show that they were needed. */
  readonly #ahead: { readonly at: number; readonly tools: ReadonlySet<string> }[] = []

  addAhead(request: number, { keys, rule, place, tools, tokens }: EventOf<'sections/opened'>): void {
    if (keys.length === 0) return
    // Without tools, nothing says whether a section was needed.
    const isUsed = tools.length === 0 ? undefined : false
    this.list.push({ request, keys, reason: rule, answer: 'ahead', isUsed })
    this.#ahead.push({ at: this.list.length - 1, tools: new Set(tools) })
    if (place === 'message') this.tokens += tokens
  }

  addAsked(request: number, { message, disclosure }: EventOf<'tool/invoked'>): void {
    if (!disclosure) return
    const { keys, reason, answer } = disclosure
    this.list.push({ request, keys, reason, answer })
    if (answer === 'in-place') this.tokens += estimatedTokens.count(message)
  }

  /** A tool was called, so the sections that were opened ahead for it were needed. */
  use(tool: string): void {
    for (const { at, tools } of this.#ahead) {
      const opening = this.list[at]
      if (opening && tools.has(tool)) this.list[at] = { ...opening, isUsed: true }
    }
  }
}
