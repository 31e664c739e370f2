import type { Usage } from '../adapters/contract.ts'
import { LimitReachedError, RunAbortedError, type LimitKind } from './errors.ts'
import type { RunState } from './loop/run-state.ts'

export interface TokenLimits {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly totalTokens?: number
}

export interface LimitOptions {
  readonly limits?: TokenLimits | undefined
  readonly deadline?: Date | undefined
  readonly signal: AbortSignal
}

/** Throws if a run may not go on. Asked before each request and each call of a tool. */
export function checkLimits(options: LimitOptions, state: RunState): void {
  const { limits = {}, deadline, signal } = options
  if (signal.aborted) throw new RunAbortedError(state, signal.reason)
  if (deadline && Date.now() >= deadline.getTime()) {
    throw new LimitReachedError('deadline', `The run's deadline, ${deadline.toISOString()}, has passed.`, state)
  }
  for (const { kind, used, limit } of spent(limits, state.usage)) {
    if (limit !== undefined && used >= limit) {
      throw new LimitReachedError(
        kind,
        `The run has used ${used} ${kind.replace('-', ' ')} of the ${limit} it may use.`,
        state,
      )
    }
  }
}

function spent(
  limits: TokenLimits,
  usage: Usage,
): readonly { kind: LimitKind; used: number; limit: number | undefined }[] {
  return [
    { kind: 'input-tokens', used: usage.inputTokens, limit: limits.inputTokens },
    { kind: 'output-tokens', used: usage.outputTokens, limit: limits.outputTokens },
    { kind: 'total-tokens', used: usage.inputTokens + usage.outputTokens, limit: limits.totalTokens },
  ]
}
