import { NO_USAGE, subtractUsage, type Usage } from '../../adapters/usage/usage.ts'
import { checkRates, priceUsage } from '../../adapters/usage/price-usage.ts'
import { checkNumber, describeGiven } from '../../core/check-number.ts'
import { FoldoutError } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import { ignore, isThenable } from '../../core/promises.ts'
import { checkBudget } from '../../prompt/render/budget.ts'
import { LimitReachedError, type LimitKind } from '../errors.ts'
import { checkDelegates } from '../delegate-models.ts'
import { DEFAULT_MAX_TURNS, type RunLimits, type StopReason } from '../limits.ts'
import type { AgentOptions, AgentTurn } from '../options.ts'
import type { RunState } from '../state/run-state.ts'
import { checkRefold } from '../refold/options.ts'

/** Throws if the tokens or the money of a run are used up. Called before each request and each tool call. */
export function checkSpent(limits: RunLimits, state: RunState): void {
  for (const { kind, used, limit } of getSpent(limits, state.usage)) {
    if (limit === undefined || used < limit) continue
    const message = `The run has used ${used} ${kind.replace('-', ' ')} of the ${limit} it may use.`
    throw new LimitReachedError(kind, message, state)
  }
  if (limits.cost) checkCost(limits.cost, state)
}

function checkCost({ usd, rates }: NonNullable<RunLimits['cost']>, state: RunState): void {
  const { usage, delegated } = state
  const own = subtractUsage(usage, delegated)
  const said = subtractUsage(
    { ...NO_USAGE, costUsd: usage.costUsd ?? 0 },
    { ...NO_USAGE, costUsd: delegated.costUsd ?? 0 },
  )
  const cost = Math.max(priceUsage(own, rates), said.costUsd ?? 0) + (delegated.costUsd ?? 0)
  if (cost < usd) return
  const message = `The run has cost $${formatUsd(cost)} of the $${formatUsd(usd)} it may cost.`
  throw new LimitReachedError('cost', message, state)
}

function formatUsd(usd: number): string {
  return String(Number(usd.toFixed(6)))
}

function getSpent(
  limits: RunLimits,
  usage: Usage,
): readonly { readonly kind: LimitKind; readonly used: number; readonly limit: number | undefined }[] {
  return [
    { kind: 'input-tokens', used: usage.inputTokens, limit: limits.inputTokens },
    { kind: 'output-tokens', used: usage.outputTokens, limit: limits.outputTokens },
    { kind: 'total-tokens', used: usage.inputTokens + usage.outputTokens, limit: limits.totalTokens },
  ]
}

/** Finds the reason why a run stops after a reply, if it does. */
export function findStop(
  { stopWhen, maxTurns = DEFAULT_MAX_TURNS }: Pick<AgentOptions, 'stopWhen' | 'maxTurns'>,
  turns: readonly AgentTurn[],
  state: RunState,
): StopReason | undefined {
  const answer: unknown = stopWhen?.(turns)
  if (isThenable(answer)) {
    void ignore(answer, 'the error below says what is wrong')
    throw new FoldoutError(
      'stop-when-async',
      'stopWhen() returned a promise. It must be synchronous: return a boolean.',
    )
  }
  if (answer) return 'stop-when'
  if (state.turns >= maxTurns) return 'max-turns'
  return undefined
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
  checkNumber('perHour', options.perHour, { code: 'run-options' })
  checkNumber('adapter.contextWindow', options.adapter.contextWindow, { code: 'run-options', least: 1 })
  checkOpen(options.open)
  checkDelegates(options.delegates)
  checkRefold(options.refold, options.adapter)
  checkHook(options.beforeRequest)
  checkNumber('lease.ms', options.lease?.ms, { code: 'run-options', least: 1 })
  checkChoice('lease.ifHeld', options.lease?.ifHeld, ['refuse', 'wait', 'take'])
  checkCostLimit(options.limits?.cost)
  checkBudget(options.budget, 'run-options')
  for (const [name, choices] of Object.entries(CHOICES))
    checkChoice(name, options[name as keyof typeof CHOICES], choices)
}

/** Rejects rules that are none. */
export function checkOpen(open: unknown): void {
  if (open === undefined || open === 'all' || typeof open === 'function') return
  if (Array.isArray(open) && open.every((path) => typeof path === 'string')) return
  throw new FoldoutError(
    'run-options',
    `open is ${describeGiven(open)}. Pass 'all', a list of paths, or a rule such as bySearch().`,
  )
}

function checkHook(hook: unknown): void {
  if (hook === undefined || typeof hook === 'function') return
  throw new FoldoutError('run-options', `beforeRequest is ${describeGiven(hook)}. Pass a function, or leave it out.`)
}

function checkCostLimit(cost: unknown): void {
  if (cost === undefined) return
  const { usd, rates } = isObject(cost) ? cost : {}
  if (!Number.isFinite(usd) || (usd as number) < 0)
    throw new FoldoutError('run-options', `limits.cost.usd is ${describeGiven(usd)}. Pass a number, 0 or more.`)
  checkRates('limits.cost.rates', rates, 'run-options')
}

function checkChoice(name: string, given: unknown, choices: readonly string[]): void {
  if (given === undefined || choices.includes(given as string)) return
  const wanted = choices.map((choice) => `'${choice}'`).join(', ')
  throw new FoldoutError('run-options', `${name} is ${describeGiven(given)}. Pass one of ${wanted}, or leave it out.`)
}
