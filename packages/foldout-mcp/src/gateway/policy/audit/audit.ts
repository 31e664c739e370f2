import { dropUndefined } from 'foldout-shared/values'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ignore } from 'foldout/promises'
import type { Redactor } from '../secrets/redact.ts'
import { AUDIT_RETRY_MS, MAX_AUDIT_ARGUMENTS, MAX_AUDIT_NAME, MAX_AUDIT_TEXT, MAX_AUDIT_WAITING } from './limits.ts'
import type { AuditEntry, AuditOutcome } from './audit-store.ts'

/** One call of a tool. */
export interface AuditedCall {
  readonly client:
    | { readonly id: string; readonly name: string | undefined; readonly user: string | undefined }
    | undefined
  readonly preset: string
  /** `server/tool`, even if the call went through a meta tool. */
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly outcome: AuditOutcome
  readonly durationMs: number
  /** The size of the result as JSON. */
  readonly bytes: number
}

/** Where the lines of an audit log go. */
export interface AuditTarget {
  /** For messages. */
  readonly title: string
  /** Whether the same batch may be written again after a failure. */
  readonly canRepeat: boolean
  append(batch: string, lines: readonly string[]): Promise<void>
}

/** Writes one line of JSON per call. Writing never delays a call or makes it fail. */
export interface AuditLog {
  note(call: AuditedCall): void
  /** Resolves when everything has been written or has failed. */
  close(): Promise<void>
}

export function openAuditLog(target: AuditTarget, redactor: Redactor, onProblem: (message: string) => void): AuditLog {
  return new WaitingLog(target, redactor, onProblem)
}

class WaitingLog implements AuditLog {
  readonly #target: AuditTarget
  readonly #redactor: Redactor
  readonly #onProblem: (message: string) => void
  readonly #closing = new AbortController()
  #lines: string[] = []
  /** Characters in lines that are not written yet. */
  #waiting = 0
  /** Lines dropped since the last one was written. */
  #lost = 0
  /** Whether the last write failed. */
  #isBroken = false
  #writing: Promise<void> | undefined

  constructor(target: AuditTarget, redactor: Redactor, onProblem: (message: string) => void) {
    this.#target = target
    this.#redactor = redactor
    this.#onProblem = onProblem
  }

  note(call: AuditedCall): void {
    const line = JSON.stringify(toEntry(call, this.#redactor))
    if (this.#waiting + line.length > MAX_AUDIT_WAITING) {
      this.#lost++
      return
    }
    this.#lines.push(line)
    this.#waiting += line.length
    this.#writing ??= this.#write()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#writing
    if (this.#lost > 0)
      this.#onProblem(
        `${this.#lost} calls are missing from the audit log ${this.#target.title}, which could not be written.`,
      )
  }

  async #write(): Promise<void> {
    while (this.#lines.length > 0) {
      const lines = this.#lines
      const lost = this.#lost
      this.#lines = []
      const gap = lost === 0 ? [] : [JSON.stringify({ at: new Date().toISOString(), lost } satisfies AuditEntry)]
      const isWritten = await this.#append([...gap, ...lines])
      this.#waiting -= lines.reduce((sum, { length }) => sum + length, 0)
      this.#lost += isWritten ? -lost : lines.length
    }
    this.#writing = undefined
  }

  /** Waits for an unreachable store while lines queue up. A file is not retried, because it may already hold half a line. */
  async #append(lines: readonly string[]): Promise<boolean> {
    const batch = randomUUID()
    for (;;) {
      try {
        await this.#target.append(batch, lines)
        this.#isBroken = false
        return true
      } catch (error) {
        if (!this.#isBroken)
          this.#onProblem(`The audit log ${this.#target.title} cannot be written: ${(error as Error).message}`)
        this.#isBroken = true
        if (!this.#target.canRepeat || this.#closing.signal.aborted) return false
        await ignore(
          sleep(AUDIT_RETRY_MS, undefined, { signal: this.#closing.signal, ref: false }),
          'closing ends the wait',
        )
      }
    }
  }
}

function toEntry({ arguments: args, client, ...call }: AuditedCall, redactor: Redactor): AuditEntry {
  const entry = {
    at: new Date().toISOString(),
    client: client && {
      id: client.id,
      ...dropUndefined({ name: client.name && redactor.redactStart(client.name, MAX_AUDIT_NAME), user: client.user }),
    },
    ...call,
    arguments: redactor.redactJson(new Cutter(redactor).cut(args)).value,
  }
  if (JSON.stringify(entry).length <= MAX_AUDIT_ARGUMENTS) return entry
  return { ...entry, arguments: undefined }
}

const MAX_CUT_DEPTH = 32

/** Cuts long texts, and leaves out values that are nested too deeply. Stops as soon as there is too much to keep. */
class Cutter {
  readonly #redactor: Redactor
  #left = MAX_AUDIT_ARGUMENTS

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Undefined if it is too large. */
  cut(value: unknown): unknown {
    const cut = this.#cut(value, 0)
    if (this.#left < 0) return undefined
    return cut
  }

  #cut(value: unknown, depth: number): unknown {
    this.#left -= 1
    if (typeof value === 'string') return this.#cutText(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > MAX_CUT_DEPTH) return '…'
    if (Array.isArray(value)) return this.#cutAll(value, (item) => this.#cut(item, depth + 1))
    const fields = this.#cutAll(Object.keys(value), (name) => {
      this.#left -= name.length
      return [name, this.#cut((value as Readonly<Record<string, unknown>>)[name], depth + 1)]
    })
    return Object.fromEntries(fields)
  }

  #cutAll<Item, Cut>(items: readonly Item[], cut: (item: Item) => Cut): readonly Cut[] {
    const kept: Cut[] = []
    for (const item of items) {
      if (this.#left < 0) break
      kept.push(cut(item))
    }
    return kept
  }

  #cutText(text: string): string {
    this.#left -= Math.min(text.length, MAX_AUDIT_TEXT)
    if (text.length <= MAX_AUDIT_TEXT) return text
    const more = text.length - MAX_AUDIT_TEXT
    // Redact before cutting, because half a secret would not be recognized.
    return `${this.#redactor.redactStart(text, MAX_AUDIT_TEXT)}… (${more} more characters)`
  }
}
