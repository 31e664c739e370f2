import type { ProviderAdapter } from '../adapters/contract.ts'
import { checkRates, type UsageRates } from '../adapters/usage/price-usage.ts'
import { checkNumber } from '../core/check-number.ts'
import { FoldoutError } from '../core/errors.ts'
import { isObject } from 'foldout-shared/values'

/**
 * A model that answers questions about sections.
 *
 * @example
 * ```ts
 * const small: DelegateModel = { adapter, rates: { input: 1, output: 5, cacheRead: 0.1 }, maxTurns: 10 }
 * await runAgent(bound, { adapter, delegates: { small } })
 * ```
 */
export interface DelegateModel {
  readonly adapter: ProviderAdapter
  /** What the model costs, for `limits.cost`. Default: what its provider reports, otherwise the rates of the run. */
  readonly rates?: UsageRates
  /** The maximum number of replies to one question. Default: that of the run. */
  readonly maxTurns?: number
}

/** Rejects delegates that could not answer. */
export function checkDelegates(delegates: unknown): void {
  if (delegates === undefined) return
  if (!isObject(delegates)) throw createFault('delegates', 'Pass an object of { adapter }, by name.')
  for (const [name, model] of Object.entries(delegates)) {
    const { adapter, rates, maxTurns } = isObject(model) ? model : {}
    if (typeof (adapter as Partial<ProviderAdapter> | undefined)?.evaluate !== 'function')
      throw createFault(`delegates.${name}`, 'Pass { adapter }, with the adapter of the model that answers.')
    if (rates !== undefined) checkRates(`delegates.${name}.rates`, rates, 'run-options')
    checkNumber(`delegates.${name}.maxTurns`, maxTurns, { code: 'run-options' })
  }
}

function createFault(name: string, how: string): FoldoutError {
  return new FoldoutError('run-options', `${name} is not valid. ${how}`)
}

/** Finds the model that answers for a section. Throws if the run does not have it. */
export function findModel(
  { adapter, delegates = {} }: { readonly adapter: ProviderAdapter; readonly delegates?: DelegateModels | undefined },
  delegate: string | boolean,
  path: string,
): DelegateModel {
  if (typeof delegate !== 'string') return { adapter }
  const model = Object.hasOwn(delegates, delegate) ? delegates[delegate] : undefined
  if (model) return model
  throw new FoldoutError(
    'run-options',
    `The section '${path}' is answered by '${delegate}', which this run does not have. Pass delegates: { '${delegate}': { adapter } }.`,
  )
}

export type DelegateModels = Readonly<Record<string, DelegateModel>>
