import { FoldoutError, getErrorMessage, isInstance } from '../core/errors.ts'

/**
 * What a tool has thrown, instead of returning `fail(message)`.
 *
 * @example
 * ```ts
 * const onToolError = ({ tool, error, isMistake }: ThrownByTool): string | undefined => {
 *   console.error(tool, error)
 *   return isMistake ? undefined : 'The shop is closed at night. Try again tomorrow.'
 * }
 * ```
 */
export interface ThrownByTool {
  readonly tool: string
  /** The id of the call; a program may call without one. */
  readonly callId?: string
  readonly error: unknown
  /** Whether it looks like a mistake in the program: a variable that is not defined, a session without the tool's slice. */
  readonly isMistake: boolean
}

/** Describes to a model what a tool has thrown, without what is none of the model's business. */
export function describeThrown(tool: string, error: unknown): string {
  if (isMistake(error))
    return `Tool '${tool}' failed because of a mistake in its program, not because of your arguments. Calling it again will not help. Continue without it, or say that it does not work.`
  return `Tool '${tool}' failed: ${describeError(error)}`
}

/** Returns an error's message without secrets. */
export function describeError(error: unknown): string {
  return hideSecrets(getErrorMessage(error))
}

// Engines use TypeErrors for mistakes, and libraries for refused arguments and lost connections.
const MISTAKES =
  /is not (a function|iterable|a constructor|defined|extensible)|^Cannot (read|set|convert|destructure|access|assign|delete|define|redefine|add) |^Assignment to constant|^Illegal invocation|^Reduce of empty/
/** What only a mistake in a program causes. */
const MISTAKEN_CODES: ReadonlySet<FoldoutError['code']> = new Set([
  'dispatch-in-reducer',
  'event-invalid',
  'event-lossy',
  'slice-invalid',
  'slice-unknown',
  'transaction-ended',
  'transaction-restore',
])

/** Whether an error looks like a mistake in a program rather than a failure that a tool reports. */
export function isMistake(error: unknown): boolean {
  if (isInstance(error, FoldoutError)) return MISTAKEN_CODES.has(error.code)
  if (isInstance(error, ReferenceError)) return true
  if (isInstance(error, RangeError)) return /call stack/.test(getErrorMessage(error))
  return isInstance(error, TypeError) && MISTAKES.test(getErrorMessage(error))
}

const HIDDEN = '***'

/** What looks like a secret. `$1` stays. */
const PATTERNS: readonly RegExp[] = [
  // postgres://user:password@host
  /\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@:]{0,200}:[^\s/@]{1,500}(?=@)/gi,
  /\b((?:bearer|basic) )[\w.~+/=-]{8,}/gi,
  // password=…, "apiKey": "…", x-api-key: …
  /((?:passw(?:or)?d|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|signature|authorization)["']?\s{0,3}[=:]\s{0,3}["']?)(?!bearer |basic )[^\s"',;&)}\]]{4,}/gi,
  // Keys of well-known services, and signed tokens.
  /()\b(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abeprs]|npm|hf|shpat)[-_][\w-]{12,}/g,
  /()\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /()\bAIza[\w-]{30,}/g,
  /()\bgithub_pat_\w{20,}/g,
  /()\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{0,}/g,
  /()-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,10000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
]

/** Variables that hold secrets. */
const SECRET_NAME =
  /secret|token|passw(or)?d|api_?key|access_?key|private_?key|credential|_key$|_pat$|database_url|dsn$/i
const LEAST_SECRET = 8

/** Replaces what looks like a secret, and the values of environment variables that are named like one. */
function hideSecrets(text: string): string {
  const hidden = PATTERNS.reduce((rest, pattern) => rest.replace(pattern, `$1${HIDDEN}`), text)
  return listSecrets().reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), hidden)
}

function listSecrets(): readonly string[] {
  return Object.entries(globalThis.process?.env ?? {}).flatMap(([name, value]) =>
    value !== undefined && value.length >= LEAST_SECRET && SECRET_NAME.test(name) ? [value] : [],
  )
}
