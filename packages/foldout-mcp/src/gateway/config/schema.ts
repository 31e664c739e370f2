import { z } from 'zod'
import type { GatewayDefinition } from './definition.ts'

const scalar = z.union([z.string(), z.number(), z.boolean()])
const scalars = z.record(z.string(), scalar)
const seconds = z.number().nonnegative().max(86_400)

const parameterOverride = z.strictObject({
  fixed: z.unknown().exactOptional(),
  default: z.unknown().exactOptional(),
  description: z.string().exactOptional(),
})

const toolOverride = z.strictObject({
  name: z.string().min(1).exactOptional(),
  description: z.string().exactOptional(),
  hide: z.boolean().exactOptional(),
  category: z.string().exactOptional(),
  tags: z.array(z.string()).exactOptional(),
  core: z.boolean().exactOptional(),
  parameters: z.record(z.string(), parameterOverride).exactOptional(),
})

/** Entries are shared with other clients, which have fields of their own. */
export const serverSchema = z.looseObject({
  command: z.string().nullish(),
  args: z.array(scalar).nullish(),
  env: scalars.nullish(),
  envFile: z.string().nullish(),
  cwd: z.string().nullish(),
  url: z.string().nullish(),
  serverUrl: z.string().nullish(),
  httpUrl: z.string().nullish(),
  headers: scalars.nullish(),
  type: z.string().nullish(),
  disabled: z.boolean().nullish(),
  required: z.boolean().exactOptional(),
  start: z.enum(['lazy', 'eager']).exactOptional(),
  isolate: z.boolean().exactOptional(),
  idleSeconds: seconds.exactOptional(),
  timeoutSeconds: seconds.positive().exactOptional(),
  maxConcurrent: z.int().positive().exactOptional(),
  description: z.string().exactOptional(),
  tools: z.record(z.string(), toolOverride).exactOptional(),
})

export type ServerInput = z.output<typeof serverSchema>

const exposure = z.enum(['auto', 'all', 'hybrid', 'meta-tool', 'two-phase', 'code'])

const preset = z.strictObject({
  servers: z.array(z.string()).exactOptional(),
  include: z.array(z.string()).exactOptional(),
  exclude: z.array(z.string()).exactOptional(),
  expose: exposure.exactOptional(),
  instructions: z.string().exactOptional(),
})

/** What a file says beside its servers, which are read one by one so that a mistake in one does not cost the others. */
export const gatewaySchema = z.looseObject({
  expose: exposure.exactOptional(),
  presets: z.record(z.string(), preset).exactOptional(),
  instructions: z.string().exactOptional(),
}) satisfies z.ZodType<unknown, Omit<GatewayDefinition, 'mcpServers'>>

/** Says in a sentence what is wrong with a value, by its first mistake. */
export function describeMistake(error: z.ZodError, subject: (field: string) => string): string {
  const [issue] = error.issues
  if (!issue) return 'It is not valid.'
  const field = issue.path.map(String).join('.')
  const start = field === '' ? 'The entry' : subject(field)
  if (issue.code === 'invalid_type' || issue.code === 'invalid_union') return `${start} must be ${describeKind(issue)}.`
  if (issue.code === 'invalid_value') return `${start} must be one of ${issue.values.map(String).join(', ')}.`
  if (issue.code === 'unrecognized_keys') return `${start} has no setting called ${issue.keys.join(', ')}.`
  return `${start}: ${issue.message}.`
}

function describeKind(issue: z.core.$ZodIssue): string {
  const expected = 'expected' in issue ? issue.expected : undefined
  if (expected === undefined) return 'a string, a number or true or false'
  const kinds: ReadonlyMap<string, string> = new Map([
    ['array', 'a list'],
    ['object', 'an object'],
    ['record', 'an object'],
    ['boolean', 'true or false'],
    ['int', 'a whole number'],
  ])
  return kinds.get(expected) ?? `a ${expected}`
}
