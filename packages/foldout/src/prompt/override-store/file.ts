import { FoldoutError, getErrorMessage } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import { parseTemplate } from '../../core/template.ts'
import type { PromptDescriptor } from '../overrides/descriptor.ts'
import type { AheadOverride, PromptOverrides, SectionOverride, ToolOverride } from '../overrides/overrides.ts'

/** Where the overrides of a prompt are stored. */
export interface OverridePlace {
  readonly root: string
  readonly path: string
  readonly ns: string
  readonly key: string
  readonly tag: string
}

/** Maps rather than objects: names come from files, and a name such as `__proto__` cannot be assigned to an object. */
export interface OverrideEntries {
  readonly sections: ReadonlyMap<string, SectionOverride>
  readonly tools: ReadonlyMap<string, ToolOverride>
  readonly ahead: AheadOverride | undefined
}

const VERSION = 1

export function parseOverrideFile(bytes: Uint8Array, place: OverridePlace): OverrideEntries {
  let json: unknown
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw unusable(place.path, `It is not JSON: ${getErrorMessage(error)}.`, error)
  }
  const fault = fileCheck(place)(json, '')
  if (fault !== undefined) throw unusable(place.path, `In it, ${fault}.`)
  return toEntries(json as PromptOverrides)
}

export function toEntries({ sections = {}, tools = {}, ahead }: PromptOverrides): OverrideEntries {
  return { sections: new Map(Object.entries(sections)), tools: new Map(Object.entries(tools)), ahead }
}

export function unusable(path: string, fault: string, cause?: unknown): FoldoutError {
  return new FoldoutError(
    'override-file',
    `The override file '${path}' cannot be used. ${fault} Fix it by hand, or move it away to start over.`,
    cause === undefined ? undefined : { cause },
  )
}

/** Sorts entries in the order of the prompt. Entries that the prompt no longer has come last, unchanged. */
export function formatOverrideFile(place: OverridePlace, entries: OverrideEntries, order: PromptDescriptor): string {
  const { ns, key, tag } = place
  const sections = sortByRank(
    entries.sections,
    order.sections.map(({ path }) => path),
  )
  const tools = sortByRank(
    entries.tools,
    order.tools.map(({ name }) => name),
  )
  const { ahead } = entries
  return `${JSON.stringify({ version: VERSION, ns, key, tag, ahead, sections, tools }, null, 2)}\n`
}

function sortByRank<Entry>(entries: ReadonlyMap<string, Entry>, order: readonly string[]): Record<string, Entry> {
  const ranks = new Map(order.map((name, rank) => [name, rank]))
  const rank = (name: string): number => ranks.get(name) ?? order.length
  return Object.fromEntries([...entries].sort(([a], [b]) => rank(a) - rank(b)))
}

/** Describes the fault of a value as a clause that begins with its location, or returns `undefined` if it is valid. */
type Check = (value: unknown, at: string) => string | undefined

const isText: Check = (value, at) => {
  if (typeof value === 'string') return undefined
  return `${at} ${is(value)}; use a string`
}

const isHash: Check = (value, at) => {
  if (typeof value === 'string') return undefined
  return `${at} ${is(value)}; use the hash in the prompt's descriptor`
}

const isTemplate: Check = (value, at) => {
  const fault = isText(value, at)
  if (fault !== undefined) return fault
  try {
    parseTemplate(value as string)
    return undefined
  } catch {
    return `${at} has a placeholder \${} without a name; name it, or write $\${} for the literal text`
  }
}

const isCount: Check = (value, at) => {
  if (Number.isInteger(value) && (value as number) >= 0) return undefined
  return `${at} ${is(value)}; use a number, 0 or more`
}

function isOneOf(...choices: readonly (string | number | boolean)[]): Check {
  const wanted = choices.map((choice) => JSON.stringify(choice)).join(' or ')
  return (value, at) => {
    if (choices.some((choice) => choice === value)) return undefined
    return `${at} ${is(value)}; use ${wanted}`
  }
}

function optional(check: Check): Check {
  return (value, at) => {
    if (value === undefined) return undefined
    return check(value, at)
  }
}

function isRecordOf(check: Check): Check {
  return (value, at) => {
    if (!isObject(value)) return `${at} ${is(value)}; use an object`
    return firstFault(Object.entries(value), ([name, inner]) => check(inner, inside(at, name)))
  }
}

function isObjectOf(fields: Readonly<Record<string, Check>>): Check {
  const names = Object.keys(fields)
  return (value, at) => {
    if (!isObject(value)) return `${at || 'the whole'} ${is(value)}; use an object`
    const excess = Object.keys(value).find((name) => !Object.hasOwn(fields, name))
    if (excess !== undefined) return `${inside(at, excess)} is not known; use ${names.join(', ')}`
    return firstFault(Object.entries(fields), ([name, check]) => check(value[name], inside(at, name)))
  }
}

/** Checks the override of a section. */
export const sectionCheck = isObjectOf({
  hash: isHash,
  body: optional(isTemplate),
  summary: optional(isTemplate),
  visibility: optional(isOneOf('full', 'summary')),
})

/** Checks the override of a tool. */
export const toolCheck = isObjectOf({
  hash: isHash,
  description: optional(isText),
  fields: optional(isRecordOf(isText)),
  core: optional(isOneOf(true, false)),
})

/** Checks the override that opens sections ahead. */
export const aheadCheck = isObjectOf({
  max: optional(isCount),
  budget: optional(isCount),
  minFit: optional(isOneOf('good', 'weak')),
})

function fileCheck({ ns, key, tag }: OverridePlace): Check {
  const asPlaced =
    (expected: string): Check =>
    (value, at) => {
      if (value === expected) return undefined
      return `${at} ${is(value)}; use ${JSON.stringify(expected)}, to match the location of the file`
    }
  return isObjectOf({
    version: isOneOf(VERSION),
    ns: asPlaced(ns),
    key: asPlaced(key),
    tag: asPlaced(tag),
    ahead: optional(aheadCheck),
    sections: optional(isRecordOf(sectionCheck)),
    tools: optional(isRecordOf(toolCheck)),
  })
}

function firstFault<Item>(items: readonly Item[], check: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const fault = check(item)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Formats a location: `sections.context`, or `sections["context.details"]` if the name is not a plain word. */
function inside(at: string, name: string): string {
  if (at === '') return name
  if (/^[\w-]+$/.test(name)) return `${at}.${name}`
  return `${at}[${JSON.stringify(name)}]`
}

function is(value: unknown): string {
  if (value === undefined) return 'is missing'
  if (Array.isArray(value)) return 'is a list'
  if (isObject(value)) return 'is an object'
  return `is ${JSON.stringify(value)}`
}
