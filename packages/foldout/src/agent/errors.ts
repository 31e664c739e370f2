import type { Usage } from '../adapters/contract.ts'
import { FoldoutError, getErrorMessage, isInstance, isReadableError } from '../core/errors.ts'
import type { Visibility } from '../session/visibility.ts'
import { toRunState, type RunState } from './state/run-state.ts'

/**
 * Thrown by `evaluatePrompt` when the model has opened sections that need a new render. `runAgent` handles this itself.
 *
 * @example
 * ```ts
 * if (error instanceof VisibilityExpansionRequired) console.log(error.sectionKeys, error.reason)
 * ```
 */
export class VisibilityExpansionRequired extends FoldoutError {
  /** The visibilities to set in the session, ancestors first. */
  readonly requestedOverrides: Readonly<Record<string, Visibility>>
  readonly reason: string
  /** The sections that the model has opened. */
  readonly sectionKeys: readonly string[]
  readonly usage: Usage

  constructor(details: Pick<VisibilityExpansionRequired, 'requestedOverrides' | 'reason' | 'sectionKeys' | 'usage'>) {
    super(
      'expansion-required',
      `The model has opened ${details.sectionKeys.join(', ')}. Set the requested overrides in the session and evaluate again.`,
    )
    this.requestedOverrides = details.requestedOverrides
    this.reason = details.reason
    this.sectionKeys = details.sectionKeys
    this.usage = details.usage
  }
}

/**
 * The kind of limit that a run reached.
 *
 * @example
 * ```ts
 * const isBudget = (kind: LimitKind): boolean => kind.endsWith('tokens')
 * await runAgent(bound, { adapter, limits: { totalTokens: 1 } }).catch((error) => isBudget(error.kind))
 * ```
 */
export type LimitKind =
  | 'deadline'
  | 'input-tokens'
  | 'output-tokens'
  | 'total-tokens'
  | 'cost'
  | 'expansions'
  | 'context-window'

/**
 * Thrown when a run reaches a limit. Nothing is lost: pass `state` to continue where it stopped.
 *
 * @example
 * ```ts
 * if (error instanceof LimitReachedError) await runAgent(bound, { adapter, session, state: error.state })
 * ```
 */
export class LimitReachedError extends FoldoutError {
  readonly kind: LimitKind
  readonly state: RunState

  constructor(kind: LimitKind, message: string, state: RunState) {
    super('limit-reached', message)
    this.kind = kind
    this.state = toRunState(state)
  }
}

/**
 * Thrown when a run is cancelled: by its signal, or because the reader of its stream left.
 *
 * @example
 * ```ts
 * if (error instanceof RunAbortedError) console.log('Cancelled because of', error.cause)
 * ```
 */
export class RunAbortedError extends FoldoutError {
  readonly state: RunState

  constructor(state: RunState, cause: unknown) {
    super('run-aborted', 'The run was cancelled. Pass its state to continue where it stopped.', { cause })
    this.state = toRunState(state)
  }
}

/**
 * Returns the state of the run that threw an error; pass it to continue the run. Every error that `runAgent` throws has
 * one, unless the run was rejected before it began.
 *
 * @example
 * ```ts
 * const state = getRunState(error)
 * if (state) await runAgent(bound, { adapter, session, state })
 * ```
 */
export function getRunState(error: unknown): RunState | undefined {
  if (!(error instanceof Error) || !('state' in error)) return undefined
  return error.state as RunState
}

/**
 * Attaches the state of a run to an error. Anything that is not an error, or cannot carry a state, is wrapped in one.
 */
export function withRunState(thrown: unknown, state: RunState): Error {
  if (isInstance(thrown, LimitReachedError) || isInstance(thrown, RunAbortedError)) return thrown
  if (isReadableError(thrown) && setState(thrown, state)) return thrown
  const error = new FoldoutError('run-failed', `The run failed: ${getErrorMessage(thrown)}`, { cause: thrown })
  setState(error, state)
  return error
}

/** Sets the state of an error, unless the error is frozen or already has such a property. */
function setState(error: Error, state: RunState): boolean {
  // Not enumerable: a log of the error should not print a whole conversation.
  const property = { value: toRunState(state), configurable: true, writable: true, enumerable: false }
  try {
    return Reflect.defineProperty(error, 'state', property)
  } catch {
    return false
  }
}
