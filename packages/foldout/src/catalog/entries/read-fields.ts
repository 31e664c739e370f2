import { readText } from 'foldout-shared/values'
import { toVisibleText } from '../../core/visible-text.ts'
import { MAX_DESCRIPTION_LENGTH, MAX_LINE_LENGTH, MAX_TAGS } from '../limits.ts'
import type { CatalogEntry, ToolAnnotations, ToolExecution, ToolMetadata } from '../tool.ts'
import { cleanCopy, copyJson } from './copy-json.ts'

/** The fields of a definition that a catalog keeps, except its name and schemas. */
export interface ToolFields extends Pick<
  CatalogEntry,
  'title' | 'description' | 'category' | 'tags' | 'core' | 'annotations' | 'icons' | 'execution' | 'meta' | 'extra'
> {
  readonly shortDescription: string | undefined
}

/** Reads the fields of a definition. A field of the wrong type is left out and a long one is cut; both are added to the faults. */
export function readFields(
  given: Readonly<Record<string, unknown>>,
  known: ToolMetadata | undefined,
  faults: string[],
): ToolFields {
  const line = (field: string, value: unknown): string | undefined => {
    const text = readAs(readText, field, value, faults)
    if (text === undefined) return undefined
    return cleanText(text, { field, most: MAX_LINE_LENGTH, faults })
  }
  const title = line('title', given['title'])
  const description = readAs(readText, 'description', given['description'], faults) ?? ''
  return {
    title,
    description: cleanText(description, { field: 'description', most: MAX_DESCRIPTION_LENGTH, faults }),
    category: line('category', known?.category ?? given['category']),
    tags: (readAs(readTexts, 'tags', known?.tags ?? given['tags'], faults) ?? [])
      .slice(0, MAX_TAGS)
      .map((tag) => cleanText(tag, { field: 'tags', most: MAX_LINE_LENGTH, faults })),
    shortDescription: line('shortDescription', known?.shortDescription ?? given['shortDescription']),
    core: (known?.core ?? given['core']) === true,
    annotations: readAs(readAnnotations, 'annotations', given['annotations'], faults),
    icons: readAs(readIcons, 'icons', given['icons'], faults),
    execution: readAs(readExecution, 'execution', given['execution'], faults),
    meta: readAs(readJsonObject, 'meta', given['meta'], faults),
    extra: readAs(readJsonObject, 'extra', given['extra'], faults),
  }
}

interface Cleaning {
  readonly field: string
  readonly most: number
  readonly faults: string[]
}

function cleanText(text: string, { field, most, faults }: Cleaning): string {
  // Cut first, so a huge text costs no more than the limit.
  const start = text.length > most ? `${text.slice(0, most)}…` : text
  if (start !== text) faults.push(`Its ${field} is cut to ${most} characters.`)
  const seen = toVisibleText(start)
  if (seen !== start && !start.includes('\r')) faults.push(`Invisible characters were removed from its ${field}.`)
  return seen
}

/** Reads a field. If it is present but has the wrong type, it is left out and a fault is added. */
function readAs<T>(
  read: (value: unknown) => T | undefined,
  field: string,
  value: unknown,
  faults: string[],
): T | undefined {
  if (value === undefined || value === null) return undefined
  const found = read(value)
  if (found === undefined) faults.push(`Its ${field} cannot be read and is left out.`)
  return found
}

function readTexts(value: unknown): readonly string[] | undefined {
  if (Array.isArray(value)) return value.filter((text) => typeof text === 'string')
  return undefined
}

function readJsonObject(value: unknown): Record<string, unknown> | undefined {
  const copied = copyJson(value)
  if ('fault' in copied) return undefined
  return copied.copy
}

const TASK_SUPPORT: ReadonlySet<unknown> = new Set(['required', 'optional', 'forbidden', undefined])

/** Reads the execution field of a tool: clients reject the whole list if it contains an unknown value. */
function readExecution(value: unknown): ToolExecution | undefined {
  const execution = readJsonObject(value)
  if (TASK_SUPPORT.has(execution?.['taskSupport'])) return execution
  return undefined
}

/** Reads the icons: clients also reject the whole list if one icon has no source. */
function readIcons(value: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(value)) return undefined
  const icons = value.map((icon) => readJsonObject(icon))
  if (icons.every((icon) => typeof icon?.['src'] === 'string')) return icons
  return undefined
}

/** Reads annotations, without hints of the wrong type: clients reject the whole list because of one. */
function readAnnotations(value: unknown): ToolAnnotations | undefined {
  const copy = readJsonObject(value)
  if (!copy) return undefined
  const { copy: annotations } = cleanCopy(copy)
  const names = Object.keys(annotations)
  const fitting = names.filter((name) => isFittingHint(name, annotations[name]))
  if (fitting.length === names.length) return annotations
  return Object.fromEntries(fitting.map((name) => [name, annotations[name]]))
}

function isFittingHint(name: string, hint: unknown): boolean {
  if (name === 'title') return typeof hint === 'string'
  return !name.endsWith('Hint') || typeof hint === 'boolean'
}
