import {
  findPromptCache,
  type AdvicePrice,
  type CacheOptions,
  type PromptCache,
  type UsageRates,
} from 'foldout/telemetry'
import type { ComparePrices } from 'foldout/compare'
import * as v from 'valibot'
import { UsageError } from '../../gateway/config/config.ts'
import { readTextFile } from '../../gateway/config/text-file.ts'
import { dropUndefined } from 'foldout-shared/values'
import { above, atLeast, number, oneOf, parse, positive, strictObject } from '../../shared/shapes.ts'
import { toLine } from './text.ts'

const DEFAULT_CACHE = 'anthropic'
const USUAL: PromptCache = { minimum: 1_024, read: 0.1, write: 1.25, ttlMs: 300_000 }

/** The options that say what tokens cost. */
export interface PriceOptions {
  readonly cache?: 'none' | 'anthropic' | 'openai'
  readonly model?: string
  /** Dollars for a million tokens, as JSON or as the file that has it. */
  readonly prices?: string
  readonly perHour?: number
}

/** What a command bills. */
export interface Price {
  /** The cache as the user named it. */
  readonly name: string
  readonly cache: NonNullable<CacheOptions['cache']>
  readonly outputRate?: number
  /** The dollars that a million tokens of input cost; missing if nobody has said so. */
  readonly usdPerMillion?: number
}

/** Reads what tokens cost. A cache that nobody names is Anthropic's. */
export async function readPrice(options: PriceOptions): Promise<Price> {
  const { cache, model, prices: given } = options
  if (given === undefined) return { name: model ?? cache ?? DEFAULT_CACHE, cache: findCache(options) }
  const prices = await readPrices(given)
  const { input, output, read = input, write = input, minimum, ttl, step } = prices
  const named = findCache(options)
  const name = model ?? cache ?? 'prices'
  if (named === 'none')
    throw new UsageError(
      '--cache none has no prices for the cache. Leave it out, or leave out read and write of --prices.',
    )
  const base = { ...USUAL, ...(named === 'openai' && { step: 128 }), ...(typeof named === 'object' && named) }
  const own = { ...dropUndefined({ minimum, step }), ...(ttl !== undefined && { ttlMs: ttl * 1_000 }) }
  return {
    name,
    cache: { ...base, ...own, read: toRatio(read / input), write: toRatio(write / input) },
    outputRate: toRatio(output / input),
    usdPerMillion: input,
  }
}

/** Division alone would make 0.3 of 3 a long number. */
function toRatio(ratio: number): number {
  return Number(ratio.toPrecision(9))
}

const DEFAULT_PER_HOUR = 40

/** What recorded runs are billed at: in tuning, in advice and in the inspector alike. */
export async function readAdvicePrice(options: PriceOptions): Promise<AdvicePrice> {
  const { name: _, ...price } = await readPrice(options)
  return { ...price, cacheStart: { perHour: options.perHour ?? DEFAULT_PER_HOUR } }
}

/** The prices as rates of a usage. */
export function toRates({ input, output, read, write }: ComparePrices): UsageRates {
  return { input, output, ...dropUndefined({ cacheRead: read, cacheWrite: write }) }
}

/** The dollars that tokens at the price of input cost. */
export function toUsd(tokens: number, { usdPerMillion }: Pick<Price, 'usdPerMillion'>): number | undefined {
  return usdPerMillion && (tokens * usdPerMillion) / 1_000_000
}

/** The prompt cache that `--cache` or `--model` names. */
function findCache({ cache, model }: PriceOptions): NonNullable<CacheOptions['cache']> {
  if (model === undefined) return cache ?? DEFAULT_CACHE
  if (cache !== undefined) throw new UsageError('Use either --cache or --model to say how input is cached.')
  const known = findPromptCache(model)
  if (known) return known
  throw new UsageError(`The cache of the model '${toLine(model)}' is not known. Use --cache instead.`)
}

const dollars = v.pipe(number, atLeast(0))
const pricesSchema = strictObject({
  input: v.pipe(number, above(0)),
  output: dollars,
  read: v.exactOptional(dollars),
  write: v.exactOptional(dollars),
  minimum: v.exactOptional(dollars),
  ttl: v.exactOptional(dollars),
  step: v.exactOptional(positive),
  added: v.exactOptional(oneOf(['in-place', 'at-end'])),
})

const EXAMPLE = '{"input": 3, "output": 15, "read": 0.3, "write": 3.75}'

/** Reads the value of `--prices`: a file, or JSON. */
export async function readPrices(given: string): Promise<ComparePrices> {
  const isJson = given.trimStart().startsWith('{')
  const text = isJson ? given : await readTextFile(given)
  try {
    return parse(pricesSchema, JSON.parse(text))
  } catch (error) {
    const where = isJson ? '--prices' : given
    throw new UsageError(
      `${where} has no prices in dollars for a million tokens, such as ${EXAMPLE}: ${(error as Error).message}`,
    )
  }
}
