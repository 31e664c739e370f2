import type { Usage } from '../../adapters/contract.ts'
import { FoldoutError } from '../../core/errors.ts'
import { LimitReachedError, type LimitKind } from '../errors.ts'
import { DEFAULT_MAX_TURNS, type TokenLimits } from '../limits.ts'
import type { AgentOptions, AgentTurn } from '../options.ts'
import type { RunState } from './run-state.ts'

/** Throws if the tokens of a run are used up. Asked before each request and each call of a tool. */
export function checkTokens(limits: TokenLimits, state: RunState): void {
  for (const { kind, used, limit } of getSpent(limits, state.usage)) {
    if (limit === undefined || used < limit) continue
    const message = `The run has used ${used} ${kind.replace('-', ' ')} of the ${limit} it may use.`
    throw new LimitReachedError(kind, message, state)
  }
}

function getSpent(
  limits: TokenLimits,
  usage: Usage,
): readonly { readonly kind: LimitKind; readonly used: number; readonly limit: number | undefined }[] {
  return [
    { kind: 'input-tokens', used: usage.inputTokens, limit: limits.inputTokens },
    { kind: 'output-tokens', used: usage.outputTokens, limit: limits.outputTokens },
    { kind: 'total-tokens', used: usage.inputTokens + usage.outputTokens, limit: limits.totalTokens },
  ]
}

export type StopReason = 'max-turns' | 'stop-when'

/** Why a run stops after a reply, if it does. */
export function findStop(
  { stopWhen, maxTurns = DEFAULT_MAX_TURNS }: Pick<AgentOptions, 'stopWhen' | 'maxTurns'>,
  turns: readonly AgentTurn[],
  state: RunState,
): StopReason | undefined {
  const answer: unknown = stopWhen?.(turns)
  if (answer instanceof Promise) {
    answer.catch(() => undefined)
    throw new FoldoutError(
      'stop-when-async',
      'stopWhen() returned a promise. It has to answer at once: return a boolean.',
    )
  }
  if (answer) return 'stop-when'
  return state.turns >= maxTurns ? 'max-turns' : undefined
}
