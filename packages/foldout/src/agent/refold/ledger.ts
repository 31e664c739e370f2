import type { Message, ToolCall, ToolMessage } from '../../adapters/contract.ts'
import { createProjector, findRemoved, type FoldRecords, type Projector } from './projection.ts'

/** A message that requests send, with its size. */
export interface LedgerEntry {
  /** Its position in the conversation; -1 for a message of the summary. */
  readonly position: number
  readonly message: Message
  readonly sent: Message
  readonly tokens: number
  /** The tokens of the messages before it. */
  readonly before: number
  /** How many replies of the conversation precede it, with itself. */
  readonly replies: number
}

/** A result that is sent longer than the one line that would stand for it. */
export interface LongResult {
  readonly entry: LedgerEntry
  readonly message: ToolMessage
  readonly call: ToolCall | undefined
  getStub(isClosed: boolean): ToolMessage
}

/** What requests send of a conversation, and its size. It grows with the conversation, and is made again after a fold. */
export interface Ledger {
  readonly entries: readonly LedgerEntry[]
  readonly sent: readonly Message[]
  readonly tokens: number
  readonly replies: number
  readonly results: number
  /** The results that may fold. */
  readonly long: readonly LongResult[]
  /** The tokens of all results of each tool, as they are sent. */
  readonly tokensByTool: ReadonlyMap<string, number>
}

/** The conversation as the session has it. */
export interface Conversation extends FoldRecords {
  readonly log: { readonly length: number; at(index: number): Message | undefined } & Iterable<Message>
}

export interface LedgerOptions {
  /** Whether the provider removes tools itself. Otherwise, requests leave out that they were ever added. */
  readonly removesTools: boolean
  countMessage(message: Message): number
}

/** Returns a function that keeps the ledger of a conversation. Each message is looked at once between two folds. */
export function createLedger(options: LedgerOptions): (conversation: Conversation) => Ledger {
  let book: Book | undefined
  return (conversation) => {
    if (book?.canContinue(conversation) !== true) book = new Book(conversation, options)
    book.extend(conversation)
    return book
  }
}

/** How far the conversation was looked at, and the messages by which it is known. */
interface Seen {
  length: number
  first: Message | undefined
  last: Message | undefined
}

class Book implements Ledger {
  readonly entries: LedgerEntry[] = []
  readonly sent: Message[] = []
  tokens = 0
  replies = 0
  results = 0
  readonly long: LongResult[] = []
  readonly tokensByTool = new Map<string, number>()
  #calls: ReadonlyMap<string, ToolCall> = new Map()
  readonly #options: LedgerOptions
  readonly #records: FoldRecords
  readonly #projector: Projector
  #seen: Seen = { length: 0, first: undefined, last: undefined }

  constructor({ log, folded, summary }: Conversation, options: LedgerOptions) {
    this.#options = options
    this.#records = { folded, summary }
    const removed = options.removesTools ? new Map<string, number>() : findRemoved(log)
    this.#projector = createProjector({ records: this.#records, removed })
    for (const message of summary?.messages ?? []) this.#add({ position: -1, message, sent: message })
  }

  /** Whether a conversation only goes on where this ledger ends. */
  canContinue({ log, folded, summary }: Conversation): boolean {
    const { length, first, last } = this.#seen
    if (folded !== this.#records.folded || summary !== this.#records.summary || log.length < length) return false
    if (length > 0 && (log.at(0) !== first || log.at(length - 1) !== last)) return false
    if (this.#options.removesTools) return true
    for (let at = length; at < log.length; at++) {
      const message = log.at(at)
      if (message?.role === 'tools' && message.removed) return false
    }
    return true
  }

  extend({ log, summary }: Conversation): void {
    const seen = this.#seen
    for (; seen.length < log.length; seen.length++) {
      const message = log.at(seen.length)
      if (!message) return
      seen.first ??= message
      seen.last = message
      if (message.role === 'assistant') {
        this.replies++
        this.#calls = new Map(message.toolCalls.map((call) => [call.id, call]))
      }
      if (message.role === 'tool') this.results++
      const { sent, getStub } = this.#projector.project(message)
      if (!sent || seen.length < (summary?.count ?? 0)) continue
      const entry = this.#add({ position: seen.length, message, sent })
      if (message.role === 'tool' && getStub)
        this.long.push({ entry, message, call: this.#calls.get(message.callId), getStub })
    }
  }

  #add({ position, message, sent }: Pick<LedgerEntry, 'position' | 'message' | 'sent'>): LedgerEntry {
    const tokens = this.#options.countMessage(sent)
    const entry = { position, message, sent, tokens, before: this.tokens, replies: this.replies }
    this.entries.push(entry)
    this.sent.push(sent)
    this.tokens += tokens
    if (sent.role === 'tool') this.tokensByTool.set(sent.name, (this.tokensByTool.get(sent.name) ?? 0) + tokens)
    return entry
  }
}
