import * as v from 'valibot'
import { UsageError } from '../gateway/config/config.ts'
import type { ServerDefinition } from '../gateway/config/definition.ts'
import { boolean, describeMistake, list, object, oneOf, read, record, string } from '../shared/shapes.ts'

const inputFields = {
  description: v.optional(string),
  isRequired: v.optional(boolean),
  isSecret: v.optional(boolean),
  default: v.optional(string),
  value: v.optional(string),
  choices: v.optional(list(string)),
  format: v.optional(string),
}

const variable = object(inputFields)
const variables = v.optional(record(variable))

const input = object({ ...inputFields, variables })
const namedInput = object({ ...inputFields, variables, name: string })
const argument = object({
  ...inputFields,
  variables,
  type: v.optional(oneOf(['positional', 'named']), 'positional'),
  name: v.optional(string),
  valueHint: v.optional(string),
  isRepeated: v.optional(boolean),
})

const remote = object({
  type: string,
  url: string,
  headers: v.optional(list(namedInput), []),
  variables,
})

const packaged = object({
  registryType: string,
  identifier: string,
  version: v.optional(string),
  runtimeHint: v.optional(string),
  runtimeArguments: v.optional(list(argument), []),
  packageArguments: v.optional(list(argument), []),
  environmentVariables: v.optional(list(namedInput), []),
  transport: v.optional(object({ type: string })),
})

/** A server as described in the MCP registry. */
const serverJsonSchema = object({
  name: string,
  description: v.optional(string),
  packages: v.optional(list(packaged), []),
  remotes: v.optional(list(remote), []),
})

type Input = v.InferOutput<typeof input>
type Argument = v.InferOutput<typeof argument>
type Package = v.InferOutput<typeof packaged>
type Remote = v.InferOutput<typeof remote>

/** A value that a server needs from the user. */
export interface Question {
  /** The name of the answer. */
  readonly id: string
  readonly kind: 'env' | 'argument' | 'header' | 'variable'
  readonly description: string | undefined
  readonly isRequired: boolean
  readonly isSecret: boolean
  readonly choices: readonly string[]
  readonly fallback: string | undefined
  /** Whether it may have several answers. */
  readonly isRepeatable: boolean
}

/** The values of an answer: none, one, or for an argument that may be repeated, several. */
export type Answer = (question: Question) => readonly string[]

/** How to start a server once its questions are answered. */
export type Recipe = (answer: Answer) => ServerDefinition

/** The questions of a recipe, without duplicates. */
export function listQuestions(recipe: Recipe): readonly Question[] {
  const questions = new Map<string, Question>()
  recipe((question) => {
    const key = `${question.kind} ${question.id}`
    const isRepeatable = question.isRepeatable || questions.get(key)?.isRepeatable === true
    questions.set(key, { ...question, isRepeatable })
    if (question.fallback === undefined) return []
    return [question.fallback]
  })
  return [...questions.values()]
}

/**
 * Reads a `server.json` from the MCP registry.
 *
 * @throws UsageError if it is not valid, or has no package that can be started here.
 */
export function readServerJson(value: unknown, file: string, isRemote = false): Recipe {
  const { data, mistake } = read(serverJsonSchema, unwrap(toCamelCase(value)))
  if (mistake)
    throw new UsageError(`${file} is not a server.json: ${describeMistake(mistake, (field) => `"${field}"`)}`)
  const { packages, remotes } = data
  const packaged = packages.find((one) => RUNNERS.has(one.registryType) && (one.transport?.type ?? 'stdio') === 'stdio')
  const remote = remotes.find(({ type }) => type === 'streamable-http' || type === 'http') ?? remotes[0]
  if (remote && (isRemote || !packaged)) return createRemoteRecipe(remote)
  if (packaged && !isRemote) return createPackageRecipe(packaged)
  if (isRemote) throw new UsageError(`${file} names no remote server.`)
  throw new UsageError(`${file} has nothing that can be started: ${describeUnusable(packages)}`)
}

function describeUnusable(packages: readonly Package[]): string {
  const wanted = `It needs a package of one of ${[...RUNNERS.keys()].join(', ')}, or a remote.`
  if (packages.length === 0) return `it has no packages. ${wanted}`
  if (packages.some(({ registryType }) => RUNNERS.has(registryType)))
    return 'its packages serve HTTP instead of stdio. Start the server yourself, then add its address with --url.'
  return `its packages are ${packages.map(({ registryType }) => registryType).join(', ')}. ${wanted}`
}

interface Runner {
  readonly command: string
  /** Arguments of the runner itself, not repeated if the description also has them. */
  readonly start: readonly string[]
  toTarget(one: Package): readonly string[]
}

const RUNNERS: ReadonlyMap<string, Runner> = new Map([
  ['npm', { command: 'npx', start: ['-y'], toTarget: (one) => [joinVersion(one, '@')] }],
  ['pypi', { command: 'uvx', start: [], toTarget: (one) => [joinVersion(one, '@')] }],
  ['oci', { command: 'docker', start: ['run', '-i', '--rm'], toTarget: (one) => [joinVersion(one, ':')] }],
  ['nuget', { command: 'dnx', start: ['--yes'], toTarget: (one) => [joinVersion(one, '@')] }],
])

function createPackageRecipe(one: Package): Recipe {
  const runner = RUNNERS.get(one.registryType)
  if (!runner) throw new UsageError(`Packages from ${one.registryType} cannot be started.`)
  const getId = createArgumentIds([...one.runtimeArguments, ...one.packageArguments])
  return (answer) => {
    const fill = (argument: Argument): readonly string[] => toArguments(argument, getId(argument), answer)
    const env = answerAll(one.environmentVariables, 'env', answer)
    const given = one.runtimeArguments.flatMap(fill)
    const own = given.filter((word) => !runner.start.includes(word))
    // A container gets only the variables it is explicitly given.
    const passed = one.registryType === 'oci' ? Object.keys(env).flatMap((name) => ['-e', name]) : []
    const args = one.packageArguments.flatMap(fill)
    return {
      command: one.runtimeHint ?? runner.command,
      args: [...runner.start, ...own, ...passed, ...runner.toTarget(one), ...args],
      ...(Object.keys(env).length > 0 && { env }),
    }
  }
}

function createRemoteRecipe({ type, url, headers, variables = {} }: Remote): Recipe {
  return (answer) => {
    const filled = answerAll(headers, 'header', answer)
    return {
      ...(type === 'sse' && { type }),
      url: fillTemplate(url, variables, answer).at(-1) ?? url,
      ...(Object.keys(filled).length > 0 && { headers: filled }),
    }
  }
}

function joinVersion({ identifier, version }: Package, separator: string): string {
  // An image name may include a tag or digest.
  const hasVersion = separator === ':' && /[:@][^/]*$/.test(identifier)
  if (!version || hasVersion) return identifier
  return `${identifier}${separator}${version}`
}

/** Whose answers they are. */
interface Asking extends Pick<Question, 'id' | 'kind'> {
  /** Whether several answers give several values. */
  readonly isRepeatable?: boolean
}

type NamedInput = Package['environmentVariables'][number]

function answerAll(
  inputs: readonly NamedInput[],
  kind: Question['kind'],
  answer: Answer,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    inputs.flatMap((input) => {
      const value = answerInput(input, { id: input.name, kind }, answer).at(-1)
      if (value === undefined) return []
      return [[input.name, value] as const]
    }),
  )
}

/** The names of the answers of arguments. Those that the description gives no name are numbered, so that each has its own answer. */
function createArgumentIds(all: readonly Argument[]): (argument: Argument) => string {
  const unnamed = all.filter(({ valueHint, name, value }) => (valueHint ?? name ?? value) === undefined)
  return (argument) => {
    const { valueHint, name } = argument
    const id = valueHint ?? name?.replace(/^-+/, '')
    return id ?? (unnamed.length > 1 ? `argument-${unnamed.indexOf(argument) + 1}` : 'argument')
  }
}

function toArguments(argument: Argument, id: string, answer: Answer): readonly string[] {
  const { type, name, isRepeated: isRepeatable = false } = argument
  const values = answerInput(argument, { id, kind: 'argument', isRepeatable }, answer)
  const isFlag = argument.format === 'boolean'
  return (isRepeatable ? values : values.slice(-1)).flatMap((value) => {
    if (isFlag && value !== 'true') return []
    if (type === 'positional' || name === undefined) return [value]
    if (isFlag) return [name]
    return [name, value]
  })
}

function answerInput(input: Input, asking: Asking, answer: Answer): readonly string[] {
  if (input.value === undefined) return answer(toQuestion(input, asking))
  return fillTemplate(input.value, input.variables ?? {}, answer, asking.isRepeatable)
}

type Variable = NonNullable<Input['variables']>[string]

/** Fills in the variables of a text, once for each answer. A variable with fewer answers than another repeats its last one. */
function fillTemplate(
  text: string,
  variables: Readonly<Record<string, Variable>>,
  answer: Answer,
  isRepeatable = false,
): readonly string[] {
  const used = new Set(Array.from(text.matchAll(REFERENCE), ([, id = '']) => id))
  const values = new Map<string, readonly string[]>()
  for (const id of used) {
    const input = Object.hasOwn(variables, id) ? variables[id] : undefined
    if (!input) continue
    const question = toQuestion(input, { id, kind: 'variable', isRepeatable })
    values.set(id, input.value === undefined ? answer(question) : [input.value])
  }
  const count = Math.max(1, ...Array.from(values.values(), ({ length }) => length))
  return Array.from({ length: count }, (_, i) =>
    text.replaceAll(REFERENCE, (whole, id: string) => {
      const given = values.get(id)
      if (given) return given[i] ?? given.at(-1) ?? ''
      return whole
    }),
  )
}

const REFERENCE = /\{([^{}]+)\}/g

function toQuestion(input: Variable, { id, kind, isRepeatable = false }: Asking): Question {
  const { description, isRequired = false, isSecret = false, choices = [] } = input
  return { id, kind, description, isRequired, isSecret, choices, fallback: input.default, isRepeatable }
}

/** The registry's API wraps each description. */
function unwrap(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('server' in value)) return value
  return value.server
}

/** Older descriptions use names such as `is_required`. Variable names are left unchanged. */
function toCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toCamelCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, unknown]) => {
      if (key === 'variables' && typeof inner === 'object' && inner !== null) {
        return [key, Object.fromEntries(Object.entries(inner).map(([id, one]) => [id, toCamelCase(one)]))]
      }
      return [key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), toCamelCase(inner)]
    }),
  )
}
