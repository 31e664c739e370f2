import { defineSection, defineTool, fromJsonSchema, ok, type AnySection, type AnyTool } from 'foldout'
import type { TaskTool } from './data.ts'

/** Python's names of types in task sets, as JSON Schema has them. */
const TYPES: Readonly<Record<string, string>> = { dict: 'object', float: 'number', tuple: 'array' }

/** Creates a tool that does nothing: only its definition counts. */
export function toTool({ name, description, parameters }: TaskTool): AnyTool {
  const schema = JSON.parse(
    JSON.stringify(parameters, (key, value: unknown) => {
      return key === 'type' && typeof value === 'string' ? (TYPES[value] ?? value) : value
    }),
  ) as Record<string, unknown>
  return defineTool({ name, description, params: fromJsonSchema(schema), execute: () => ok('Done.') })
}

export function toKey(text: string): string {
  const key = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return key.replaceAll(/^-+|-+$/g, '').slice(0, 60) || 'part'
}

interface Part {
  readonly key: string
  readonly title: string
  readonly text: string
  readonly summary?: string
  readonly tools?: readonly AnyTool[]
  readonly children?: readonly AnySection[]
}

/** Texts of task sets are data, so nothing in them is a placeholder. */
const literal = (text: string): string => text.replaceAll('${', () => '$${')

export type Fold = (part: Part) => AnySection

/** Creates sections that are folded, or by price if the need of each is known. */
export function createFold(getNeed?: (key: string) => number): Fold {
  return ({ key, title, text, summary = `About ${title.toLowerCase()}.`, tools = [], children = [] }) =>
    defineSection({
      key,
      title,
      template: literal(text),
      summary: literal(summary),
      visibility: getNeed ? 'auto' : 'summary',
      ...(getNeed ? { need: getNeed(key) } : {}),
      tools,
      children,
    })
}

/** A section that is always open. */
export function open({ key, title, text, tools = [] }: Part): AnySection {
  return defineSection({ key, title, template: literal(text), tools })
}
