/** What became of a call. */
export type AuditOutcome = 'ok' | 'error' | 'denied' | 'not approved' | 'over quota' | 'asked' | 'cancelled'

export const AUDIT_OUTCOMES = [
  'ok',
  'error',
  'denied',
  'not approved',
  'over quota',
  'asked',
  'cancelled',
] as const satisfies readonly AuditOutcome[]

/** One call in the audit log, without secrets; or how many could not be written. */
export interface AuditEntry {
  readonly at: string
  readonly client?: { readonly id?: string; readonly name?: string; readonly user?: string } | undefined
  readonly preset?: string
  /** `server/tool`, whichever tool the call went through. */
  readonly tool?: string
  readonly outcome?: string
  readonly durationMs?: number
  /** Of the result, as JSON. */
  readonly bytes?: number
  readonly arguments?: unknown
  readonly lost?: number
}

/** Which calls to find. `*` in a pattern stands for any text. */
export interface AuditFilter {
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  /** A pattern over `server/tool`. */
  readonly tool?: string | undefined
  /** A pattern over whose token the client had. */
  readonly user?: string | undefined
  /** A pattern over how the client called itself, whatever the case. */
  readonly client?: string | undefined
  readonly outcome?: string | undefined
  readonly limit: number
  /** Where the page before ended. */
  readonly after?: string | undefined
}

export interface AuditPage {
  /** The newest first. */
  readonly entries: readonly AuditEntry[]
  /** Where to go on; undefined if there are no more. */
  readonly next: string | undefined
}

/** Finds calls in an audit log. */
export interface AuditSearch {
  search(filter: AuditFilter): Promise<AuditPage>
}

/** An audit log that gateways share. */
export interface AuditStore extends AuditSearch {
  /** Writes lines of JSON, all or none of them. A batch that was written already is not written again. */
  append(batch: string, lines: readonly string[]): Promise<void>
  /** Removes what is older. */
  prune(keepDays: number): Promise<void>
}
