import { MAX_ERROR_MESSAGE } from './limits.ts'
import { cutWithCount } from './text.ts'

/**
 * Every code that a Foldout error can have. Codes are stable; messages are not. `docs/errors.md` explains each code,
 * and a test keeps this list, the source and that page in agreement.
 *
 * @example
 * ```ts
 * const isWorthRetrying = (code: ErrorCode): boolean => code === 'adapter-unavailable' || code === 'store-conflict'
 * ```
 */
export type ErrorCode =
  | 'adapter-config'
  | 'adapter-refused'
  | 'adapter-reply-invalid'
  | 'adapter-reply-too-large'
  | 'adapter-stream-cut'
  | 'adapter-unavailable'
  | 'approval-changed'
  | 'approval-expired'
  | 'approval-invalid'
  | 'approval-unknown'
  | 'approval-used'
  | 'catalog-recording-invalid'
  | 'compare-file'
  | 'compare-invalid'
  | 'core-tool-unknown'
  | 'deadline-invalid'
  | 'dispatch-failed'
  | 'dispatch-in-reducer'
  | 'engine-invalid'
  | 'event-invalid'
  | 'event-lossy'
  | 'expansion-required'
  | 'filesystem'
  | 'input-invalid'
  | 'input-unsupported'
  | 'learn-core-options'
  | 'lease-lost'
  | 'limit-reached'
  | 'mcp-authorize'
  | 'mcp-closed'
  | 'mcp-list'
  | 'mcp-listen'
  | 'mcp-open'
  | 'mcp-options'
  | 'mcp-prompt'
  | 'mcp-tool-taken'
  | 'model-refused'
  | 'output-parse'
  | 'override-file'
  | 'override-locked'
  | 'peer-broken'
  | 'peer-missing'
  | 'prompt-invalid'
  | 'prompt-render'
  | 'rates-invalid'
  | 'recording-file'
  | 'recording-invalid'
  | 'run-aborted'
  | 'run-busy'
  | 'run-cancelled'
  | 'run-failed'
  | 'run-options'
  | 'run-state-invalid'
  | 'run-unknown'
  | 'sandbox-closed'
  | 'sandbox-crashed'
  | 'sandbox-invalid'
  | 'script-ended'
  | 'script-left'
  | 'search-cache-failed'
  | 'search-embedding-failed'
  | 'search-embedding-invalid'
  | 'search-empty'
  | 'session-invalid'
  | 'simulation-invalid'
  | 'skill-invalid'
  | 'skill-untrusted'
  | 'slice-invalid'
  | 'slice-unknown'
  | 'snapshot-invalid'
  | 'snapshot-lossy'
  | 'snapshot-slice-version'
  | 'snapshot-unknown-slice'
  | 'snapshot-version'
  | 'stop-when-async'
  | 'store-closed'
  | 'store-conflict'
  | 'store-corrupt'
  | 'store-failed'
  | 'store-version'
  | 'tool-failed'
  | 'tool-invalid'
  | 'tool-name-taken'
  | 'tool-not-disclosed'
  | 'transaction-ended'
  | 'transaction-restore'

/**
 * The base class of every error that Foldout throws. Programs use `code`, which is stable; people read the message, which
 * says what is wrong and how to fix it.
 *
 * @example
 * ```ts
 * try {
 *   await runAgent(bound, { adapter })
 * } catch (error) {
 *   if (error instanceof FoldoutError && error.code === 'limit-reached') console.log(error.message)
 * }
 * ```
 */
export class FoldoutError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}

/**
 * Where in a prompt the error is.
 *
 * @example
 * ```ts
 * const details: PromptErrorDetails = { path: 'refunds.rules', placeholder: 'order' }
 * ```
 */
export interface PromptErrorDetails {
  /** The dotted path of the section at fault, if there is one. */
  readonly path?: string | undefined
  /** The name of the placeholder at fault, without `${` and `}`. */
  readonly placeholder?: string | undefined
  readonly cause?: unknown
}

abstract class PromptError extends FoldoutError {
  readonly path: string | undefined
  readonly placeholder: string | undefined

  constructor(code: ErrorCode, message: string, details: PromptErrorDetails = {}) {
    super(code, message, details.cause === undefined ? undefined : { cause: details.cause })
    this.path = details.path
    this.placeholder = details.placeholder
  }
}

/**
 * Thrown if the definition of a prompt, the values bound to it or one of its overrides is invalid.
 *
 * @example
 * ```ts
 * try {
 *   definePrompt({ ns: 'shop', key: 'clerk', sections })
 * } catch (error) {
 *   if (error instanceof PromptValidationError) console.error(error.path, error.placeholder, error.message)
 * }
 * ```
 */
export class PromptValidationError extends PromptError {
  constructor(message: string, details?: PromptErrorDetails) {
    super('prompt-invalid', message, details)
  }
}

/**
 * Thrown if a valid prompt cannot be rendered with these values and this session.
 *
 * @example
 * ```ts
 * try {
 *   bound.render({ session })
 * } catch (error) {
 *   if (error instanceof PromptRenderError) console.error(error.path, error.message)
 * }
 * ```
 */
export class PromptRenderError extends PromptError {
  constructor(message: string, details?: PromptErrorDetails) {
    super('prompt-render', message, details)
  }
}

/**
 * Returns the message of any thrown value: an error's message, or the value as text. Never throws. Cuts messages longer
 * than {@link MAX_ERROR_MESSAGE}.
 */
export function getErrorMessage(thrown: unknown): string {
  const message = attempt(() => (isErrorLike(thrown) ? thrown.message : undefined))
  const text = typeof message === 'string' ? message : (attempt(() => String(thrown)) ?? describeUnprintable(thrown))
  return cutWithCount(text, MAX_ERROR_MESSAGE)
}

/**
 * Returns a short name of a thrown value that reveals nothing about its content: an error's code or name. Never throws.
 */
export function getErrorType(thrown: unknown): string {
  if (!isErrorLike(thrown)) return typeof thrown
  const type = attempt(() => ('code' in thrown && typeof thrown.code === 'string' ? thrown.code : thrown.name))
  if (typeof type === 'string') return type.slice(0, MAX_ERROR_TYPE)
  return 'Error'
}

const MAX_ERROR_TYPE = 200

/** Whether a thrown value is an instance of a class. Never throws: `instanceof` runs foreign code if the value is a proxy. */
export function isInstance<Class extends abstract new (...args: never) => unknown>(
  thrown: unknown,
  type: Class,
): thrown is InstanceType<Class> {
  return attempt(() => thrown instanceof type) ?? false
}

/** Whether a thrown value is an error whose message can be read. Never throws. */
export function isReadableError(thrown: unknown): thrown is Error {
  return isInstance(thrown, Error) && typeof attempt(() => thrown.message) === 'string'
}

function isErrorLike(thrown: unknown): thrown is Error {
  return isInstance(thrown, Error)
}

function describeUnprintable(thrown: unknown): string {
  return `a thrown value that cannot be shown (${thrown === null ? 'null' : typeof thrown})`
}

function attempt<Value>(work: () => Value): Value | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
