import { isObject } from 'foldout-shared/values'
import type { JsonSchema } from '../../core/schema/schema.ts'

/**
 * Token counts as the provider bills them.
 *
 * @example
 * ```ts
 * const usage: Usage = { inputTokens: 1200, outputTokens: 80, cachedInputTokens: 1024, cacheWriteTokens: 0 }
 * ```
 */
export interface Usage {
  /** The whole input, cached or not. */
  readonly inputTokens: number
  /** The whole output, including reasoning. */
  readonly outputTokens: number
  /** The part of the input that was read from the provider's cache. */
  readonly cachedInputTokens: number
  /** The part of the input that was written to the provider's cache, for any time. */
  readonly cacheWriteTokens: number
  /** The part of `cacheWriteTokens` that is kept for an hour, which costs more. Only if the provider reports it. */
  readonly cacheWriteTokens1h?: number
  /** The part of the output that is reasoning, if the provider reports it. */
  readonly reasoningTokens?: number
  /** What the provider says this cost, in US dollars, if it does. */
  readonly costUsd?: number
}

/** The event of a reply that was paid for and cannot be used. */
interface LostReply {
  readonly type: 'reply/lost'
  readonly usage: Usage
}

/** The fields that every usage has. */
const REQUIRED = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'cacheWriteTokens'] as const
/** The fields that a usage has if the provider reports them. */
const OPTIONAL = ['cacheWriteTokens1h', 'reasoningTokens', 'costUsd'] as const

type Field = (typeof REQUIRED)[number] | (typeof OPTIONAL)[number]

// A field that is missing above does not compile.
const FIELDS = [...REQUIRED, ...OPTIONAL] as const satisfies readonly (keyof Usage)[]
const hasAllFields: [Exclude<keyof Usage, Field>] extends [never] ? true : false = true
void hasAllFields

/**
 * Zero usage, the start of a sum.
 *
 * @example
 * ```ts
 * const total = replies.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE)
 * ```
 */
export const NO_USAGE: Usage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
})

/**
 * Adds two usages. What only one of them reports counts as zero in the other.
 *
 * @example
 * ```ts
 * const total = addUsage(usage, reply.usage)
 * ```
 */
export function addUsage(one: Usage, other: Usage): Usage {
  return combine(one, other, (left, right) => left + right)
}

/** Subtracts one usage from another; no count goes below zero. */
export function subtractUsage(all: Usage, part: Usage): Usage {
  return combine(all, part, (left, right) => Math.max(0, left - right))
}

function combine(one: Usage, other: Usage, compute: (one: number, other: number) => number): Usage {
  const combined: Record<string, number> = {}
  for (const field of REQUIRED) combined[field] = compute(one[field], other[field])
  for (const field of OPTIONAL) {
    if (one[field] === undefined && other[field] === undefined) continue
    combined[field] = compute(one[field] ?? 0, other[field] ?? 0)
  }
  return combined as unknown as Usage
}

/** Whether anything was used. */
export function hasUsage(usage: Usage): boolean {
  return FIELDS.some((field) => (usage[field] ?? 0) > 0)
}

/**
 * Reads a usage from outside. Counts that are missing, negative or not numbers become 0, or are left out if they are
 * optional; absurdly large ones are capped.
 */
export function readUsage(usage: unknown): Usage {
  const given = isObject(usage) ? usage : {}
  const read: Record<string, number> = {}
  for (const field of REQUIRED) read[field] = readCount(given[field])
  for (const field of OPTIONAL) if (isCount(given[field])) read[field] = readCount(given[field])
  return read as unknown as Usage
}

/** Reads a count that a server reports: 0 if it is missing, negative or not a number. */
export function readCount(count: unknown): number {
  if (isCount(count)) return Math.min(count, Number.MAX_SAFE_INTEGER)
  return 0
}

function isCount(count: unknown): count is number {
  return typeof count === 'number' && Number.isFinite(count) && count >= 0
}

/** Describes a usage whose counts are at most `maximum`. */
export function createUsageSchema(maximum?: number): JsonSchema {
  const amount = { type: 'number', minimum: 0, ...(maximum !== undefined && { maximum }) }
  return {
    type: 'object',
    properties: Object.fromEntries(FIELDS.map((field) => [field, amount])),
    required: [...REQUIRED],
  }
}

/**
 * Reads a reply, and reports what was paid for it if it cannot be used: the model declined to answer, or the stream was
 * cut off.
 */
export async function countLostReply<T>(
  read: () => Promise<T>,
  { getUsage, emit }: { getUsage(this: void): Usage; emit(this: void, event: LostReply): void },
): Promise<T> {
  try {
    return await read()
  } catch (error) {
    const usage = getUsage()
    if (hasUsage(usage)) emit({ type: 'reply/lost', usage })
    throw error
  }
}
