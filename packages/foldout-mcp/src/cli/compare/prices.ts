import type { ComparePrices } from 'foldout/compare'
import { findPromptCache, type PromptCache } from 'foldout/telemetry'
import * as v from 'valibot'
import { UsageError } from '../../gateway/config/config.ts'
import { readTextFile } from '../../gateway/config/text-file.ts'
import { dropUndefined } from '../../shared/fields.ts'
import { atLeast, number, oneOf, parse, strictObject } from '../../shared/shapes.ts'
import { toLine } from '../support/text.ts'

const amount = v.pipe(number, atLeast(0))
const schema = strictObject({
  input: amount,
  output: amount,
  read: v.exactOptional(amount),
  write: v.exactOptional(amount),
  minimum: v.exactOptional(amount),
  ttl: v.exactOptional(amount),
  step: v.exactOptional(v.pipe(number, atLeast(1))),
  added: v.exactOptional(oneOf(['in-place', 'at-end'])),
})

/** The prices in the file that `--rates` names, with the cache of `--model` for what the file does not say. */
export async function readPrices(
  file: string | undefined,
  model: string | undefined,
): Promise<ComparePrices | undefined> {
  const cache = model === undefined ? undefined : findCache(model)
  if (file === undefined) return undefined
  const text = await readTextFile(file)
  try {
    const given = parse(schema, JSON.parse(text))
    return { ...(cache && toPrices(cache, given.input)), ...given }
  } catch (error) {
    throw new UsageError(
      `${file} does not have prices, such as {"input": 3, "read": 0.3, "write": 3.75, "output": 15}: ${(error as Error).message}`,
    )
  }
}

function findCache(model: string): PromptCache {
  const known = findPromptCache(model)
  if (known) return known
  throw new UsageError(
    `The cache of the model '${toLine(model)}' is not known. Put minimum and ttl into the file of --rates.`,
  )
}

function toPrices({ minimum, read, write, ttlMs, step }: PromptCache, input: number): Partial<ComparePrices> {
  return { read: read * input, write: write * input, minimum, ttl: ttlMs / 1_000, ...dropUndefined({ step }) }
}
