import { findPromptCache, type CacheOptions } from 'foldout/telemetry'
import { UsageError } from '../../gateway/config/config.ts'
import { toLine } from '../support/text.ts'

export const DEFAULT_CACHE = 'anthropic'

/** The prompt cache that `--cache` or `--model` names. */
export function findCache({
  cache,
  model,
}: {
  readonly cache?: 'none' | 'anthropic' | 'openai'
  readonly model?: string
}): NonNullable<CacheOptions['cache']> {
  if (model === undefined) return cache ?? DEFAULT_CACHE
  if (cache !== undefined) throw new UsageError('Use either --cache or --model to say how input is cached.')
  const known = findPromptCache(model)
  if (known) return known
  throw new UsageError(`The cache of the model '${toLine(model)}' is not known. Use --cache instead.`)
}
