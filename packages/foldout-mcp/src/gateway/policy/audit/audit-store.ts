/** How a call ended. */
export type AuditOutcome =
  | 'ok'
  | 'error'
  | 'denied'
  | 'not approved'
  | 'over quota'
  | 'asked'
  | 'timed out'
  | 'cancelled'

export const AUDIT_OUTCOMES = [
  'ok',
  'error',
  'denied',
  'not approved',
  'over quota',
  'asked',
  'timed out',
  'cancelled',
] as const satisfies readonly AuditOutcome[]

/** One call in the audit log, without secrets; or the number of calls that could not be written. */
export interface AuditEntry {
  readonly at: string
  readonly client?: { readonly id?: string; readonly name?: string; readonly user?: string } | undefined
  readonly preset?: string
  /** `server/tool`, even if the call went through a meta tool. */
  readonly tool?: string
  readonly outcome?: string
  readonly durationMs?: number
  /** The size of the result as JSON. */
  readonly bytes?: number
  readonly arguments?: unknown
  readonly lost?: number
}

/** Which calls to find. `*` in a pattern matches any text. */
export interface AuditFilter {
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  /** A pattern for `server/tool`. */
  readonly tool?: string | undefined
  /** A pattern for the user whose token the client sent. */
  readonly user?: string | undefined
  /** A pattern for the name the client gave, ignoring case. */
  readonly client?: string | undefined
  readonly outcome?: string | undefined
  readonly limit: number
  /** Where the previous page ended. */
  readonly after?: string | undefined
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[]
  /** Where the next page begins; undefined if this is the last. */
  readonly next: string | undefined
}

/** Finds calls in an audit log. */
export interface AuditSearch {
  search(filter: AuditFilter): Promise<AuditPage>
}

/** An audit log that gateways share. */
export interface AuditStore extends AuditSearch {
  /** Writes lines of JSON, all or none. A batch that was already written is not written again. */
  append(batch: string, lines: readonly string[]): Promise<void>
  /** Removes older entries. */
  prune(keepDays: number): Promise<void>
}
