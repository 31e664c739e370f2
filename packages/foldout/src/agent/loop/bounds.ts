import type { Usage } from '../../adapters/contract.ts'
import { checkNumber, describeGiven } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import { isThenable, swallow } from '../../core/promises.ts'
import { LimitReachedError, type LimitKind } from '../errors.ts'
import { DEFAULT_MAX_TURNS, type TokenLimits } from '../limits.ts'
import type { AgentOptions, AgentTurn } from '../options.ts'
import type { RunState } from './run-state.ts'

/** Throws if the tokens of a run are used up. Called before each request and each tool call. */
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

/** Finds the reason why a run stops after a reply, if it does. */
export function findStop(
  { stopWhen, maxTurns = DEFAULT_MAX_TURNS }: Pick<AgentOptions, 'stopWhen' | 'maxTurns'>,
  turns: readonly AgentTurn[],
  state: RunState,
): StopReason | undefined {
  const answer: unknown = stopWhen?.(turns)
  if (isThenable(answer)) {
    swallow(answer)
    throw new FoldoutError(
      'stop-when-async',
      'stopWhen() returned a promise. It must be synchronous: return a boolean.',
    )
  }
  if (answer) return 'stop-when'
  return state.turns >= maxTurns ? 'max-turns' : undefined
}

const COUNTS = ['maxTurns', 'maxExpansions', 'maxRepairs', 'maxParallelCalls', 'maxCallsPerReply'] as const
const AMOUNTS = ['toolTimeoutMs', 'contextWindow'] as const
const LIMITS = ['inputTokens', 'outputTokens', 'totalTokens'] as const

const CHOICES = {
  opening: ['eager', 'conservative', 'batched'],
  interruptedCalls: ['repeat', 'tell', 'ask'],
} as const satisfies Partial<Record<keyof AgentOptions, readonly string[]>>

/** Rejects invalid limits and choices before anything happens. */
export function checkOptions(options: AgentOptions): void {
  for (const name of COUNTS) checkNumber(name, options[name], { code: 'run-options' })
  for (const name of AMOUNTS) checkNumber(name, options[name], { code: 'run-options', least: 1 })
  for (const name of LIMITS) checkNumber(`limits.${name}`, options.limits?.[name], { code: 'run-options' })
  for (const [name, choices] of Object.entries(CHOICES))
    checkChoice(name, options[name as keyof typeof CHOICES], choices)
}

function checkChoice(name: string, given: unknown, choices: readonly string[]): void {
  if (given === undefined || choices.includes(given as string)) return
  const wanted = choices.map((choice) => `'${choice}'`).join(', ')
  throw new FoldoutError('run-options', `${name} is ${describeGiven(given)}. Pass one of ${wanted}, or leave it out.`)
}
