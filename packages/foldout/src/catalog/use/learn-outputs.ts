import { checkNumbers } from '../../core/check-number.ts'
import { isObject } from 'foldout-shared/values'
import { checkByJsonSchema, type JsonSchema } from '../../core/schema/schema.ts'
import { parseJsonOrText, type LearnedOutput } from '../learned-output.ts'
import { inferSchema } from './infer-schema.ts'

/**
 * Options of {@link learnOutputs}.
 *
 * @example
 * ```ts
 * const options: LearnOutputsOptions = { minResults: 10, minConfidence: 0.9 }
 * ```
 */
export interface LearnOutputsOptions {
  /** From fewer results of a tool than this, nothing is learned about it. Default 3. */
  readonly minResults?: number
  /** What is less certain than this is left out. Default 0.5. */
  readonly minConfidence?: number
}

/**
 * A line of a run that `recordRun` has written, as far as outputs are learned from it.
 *
 * @example
 * ```ts
 * const line: RunWithResults = { event: { type: 'tool/invoked', name: 'list_rooms', ok: true, message: '["hall"]' } }
 * learnOutputs([line, line, line])['list_rooms']?.results // => 3
 * ```
 */
export interface RunWithResults {
  readonly event: object
}

/**
 * Learns from recorded runs what tools return that declare no output schema. Only JSON objects and lists are learned. Other
 * recordings contain no results.
 *
 * @example
 * const lines: RunWithResults[] = [] // or those that recordRun has written
 * await runAgent(bound, { adapter, onEvent: (event) => lines.push({ event }) })
 * const catalog = createCatalog(tools, { outputs: learnOutputs(lines) })
 */
export function learnOutputs(
  lines: Iterable<RunWithResults>,
  options: LearnOutputsOptions = {},
): Readonly<Record<string, LearnedOutput>> {
  const { minResults = 3, minConfidence = 0.5 } = options
  checkNumbers({ minResults, minConfidence }, { code: 'learn-core-options' })
  const values = new Map<string, unknown[]>()
  for (const line of lines) collect(line, values)
  const learned = Array.from(values, ([name, seen]) => [name, learn(seen)] as const)
  const isWorthIt = ({ schema, results, confidence }: LearnedOutput): boolean =>
    results >= minResults && confidence >= minConfidence && isStructure(schema)
  // Not by assignment: a tool may be called `__proto__`.
  return Object.fromEntries(learned.filter(([, output]) => isWorthIt(output)))
}

function collect(line: unknown, values: Map<string, unknown[]>): void {
  // Runs may be delegated within delegated ones.
  let event = isObject(line) ? line['event'] : undefined
  while (isObject(event) && event['type'] === 'section/delegated') event = event['event']
  if (!isObject(event) || event['type'] !== 'tool/invoked' || event['ok'] !== true) return
  const { target, message } = event
  const name = isObject(target) ? target['name'] : event['name']
  if (typeof name !== 'string' || typeof message !== 'string') return
  const known = values.get(name)
  const value = parseJsonOrText(message)
  if (known) known.push(value)
  else values.set(name, [value])
}

function learn(values: readonly unknown[]): LearnedOutput {
  const half = Math.ceil(values.length / 2)
  const first = inferSchema(values.slice(0, half))
  const others = values.slice(half)
  const fitting = others.filter((value) => checkByJsonSchema(first, value).length === 0)
  return {
    schema: inferSchema(values),
    results: values.length,
    // Laplace's rule of succession: a few results that fit prove little.
    confidence: (fitting.length + 1) / (others.length + 2),
  }
}

function isStructure({ type }: JsonSchema): boolean {
  return [type].flat().some((each) => each === 'object' || each === 'array')
}
