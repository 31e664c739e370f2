import type { Usage } from '../adapters/contract.ts'
import { FoldoutError } from '../core/errors.ts'
import type { Visibility } from '../session/visibility.ts'
import type { RunState } from './loop/run-state.ts'

/** The model asked for sections that need a new render. For callers of `evaluate`; `runAgent` deals with it. */
export class VisibilityExpansionRequired extends FoldoutError {
  /** What to set in the session, ancestors first. */
  readonly requestedOverrides: Readonly<Record<string, Visibility>>
  readonly reason: string
  /** The keys as the model gave them. */
  readonly sectionKeys: readonly string[]
  readonly usage: Usage

  constructor(details: Pick<VisibilityExpansionRequired, 'requestedOverrides' | 'reason' | 'sectionKeys' | 'usage'>) {
    super(
      'expansion-required',
      `The model asked to see ${details.sectionKeys.join(', ')}. Set the requested overrides in the session and evaluate again.`,
    )
    this.requestedOverrides = details.requestedOverrides
    this.reason = details.reason
    this.sectionKeys = details.sectionKeys
    this.usage = details.usage
  }
}

export type LimitKind = 'deadline' | 'input-tokens' | 'output-tokens' | 'total-tokens' | 'expansions'

/** A run reached a limit. Nothing is lost: `state` goes on where it stopped. */
export class LimitReachedError extends FoldoutError {
  readonly kind: LimitKind
  readonly state: RunState

  constructor(kind: LimitKind, message: string, state: RunState) {
    super('limit-reached', message)
    this.kind = kind
    this.state = state
  }
}

/** A run was cancelled by its signal. */
export class RunAbortedError extends FoldoutError {
  readonly state: RunState

  constructor(state: RunState, cause: unknown) {
    super('run-aborted', 'The run was cancelled. Its state goes on where it stopped.', { cause })
    this.state = state
  }
}
