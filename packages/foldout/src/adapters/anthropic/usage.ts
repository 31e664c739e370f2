import { isObject } from 'foldout-shared/values'
import { NO_USAGE, addUsage, readCount, readUsage, type Usage } from '../usage/usage.ts'

/** The parts of a report that are read. Everything may be missing. */
export interface ReportedUsage {
  readonly input_tokens?: number | null
  readonly output_tokens?: number | null
  readonly cache_read_input_tokens?: number | null
  readonly cache_creation_input_tokens?: number | null
  readonly cache_creation?: unknown
  readonly output_tokens_details?: unknown
  readonly iterations?: unknown
}

/** Merges two reports about one reply. The later one is a total too, and leaves out or nulls unchanged numbers. */
export function mergeReports(earlier: ReportedUsage, later: ReportedUsage): ReportedUsage {
  return { ...earlier, ...Object.fromEntries(Object.entries(later).filter(([, value]) => value !== null)) }
}

/** What is billed in addition to the reply: the request that shortens the conversation, and the advice of another model. */
const EXTRA_ITERATIONS: ReadonlySet<unknown> = new Set(['compaction', 'advisor_message'])

/** Reads a report. Anthropic counts cached input separately; here, all of it counts as input. */
export function readReport(report: ReportedUsage): Usage {
  const { iterations } = report
  const extras: readonly unknown[] = Array.isArray(iterations) ? iterations : []
  return extras
    .filter((iteration) => isObject(iteration) && EXTRA_ITERATIONS.has(iteration['type']))
    .reduce<Usage>((sum, iteration) => addUsage(sum, readCounts(iteration as ReportedUsage)), readCounts(report))
}

function readCounts(report: ReportedUsage): Usage {
  const { cache_creation: writes, output_tokens_details: output } = report
  const cachedInputTokens = readCount(report.cache_read_input_tokens)
  const cacheWriteTokens = readCount(report.cache_creation_input_tokens)
  return readUsage({
    ...NO_USAGE,
    inputTokens: readCount(report.input_tokens) + cachedInputTokens + cacheWriteTokens,
    outputTokens: report.output_tokens,
    cachedInputTokens,
    cacheWriteTokens,
    cacheWriteTokens1h: isObject(writes) ? writes['ephemeral_1h_input_tokens'] : undefined,
    reasoningTokens: isObject(output) ? output['thinking_tokens'] : undefined,
  })
}

/** The usage of one model in a query of the Agent SDK. */
export interface ModelUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cacheReadInputTokens?: number
  readonly cacheCreationInputTokens?: number
}

/**
 * Reads the result of a query of the Agent SDK: the usage across all its models, including requests outside the
 * conversation.
 */
export function readQueryUsage(result: {
  readonly modelUsage?: Readonly<Record<string, ModelUsage>>
  readonly total_cost_usd?: number
}): Usage {
  const counts = Object.values(result.modelUsage ?? {})
    .map(toUsage)
    .reduce(addUsage, NO_USAGE)
  return readUsage({ ...counts, costUsd: result.total_cost_usd })
}

function toUsage(usage: ModelUsage): Usage {
  return readCounts({
    input_tokens: usage.inputTokens ?? 0,
    output_tokens: usage.outputTokens ?? 0,
    cache_read_input_tokens: usage.cacheReadInputTokens ?? 0,
    cache_creation_input_tokens: usage.cacheCreationInputTokens ?? 0,
  })
}
