import type * as YamlPackage from 'yaml'
import { notJson, toJson, type Json, type JsonObject } from '../../core/json/json.ts'
import { importPeer } from '../../core/peer.ts'
import { shorten } from '../../core/text.ts'
import { MAX_SKILL_WARNINGS } from './limits.ts'

const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)([\s\S]*)$/

/** Splits a Markdown file into its front matter and the rest; undefined if it has no front matter. */
export function splitFrontMatter(text: string): { readonly front: string; readonly body: string } | undefined {
  const [, front, body = ''] = FRONT_MATTER.exec(text) ?? []
  if (front === undefined) return undefined
  return { front, body }
}

export interface FrontMatter {
  readonly fields: JsonObject
  readonly warnings: readonly string[]
}

/** Parses front matter. Throws if it is not YAML, even after the values with unquoted colons are quoted. */
export async function readFrontMatter(front: string): Promise<FrontMatter> {
  const yaml = await importPeer('yaml', () => import('yaml'))
  try {
    return readFields(yaml, front)
  } catch (error) {
    const quoted = quoteValues(front)
    if (quoted === front) throw error
    const { fields, warnings } = readFields(yaml, quoted)
    return { fields, warnings: ['A value has a colon and is not quoted. Put it between quotation marks.', ...warnings] }
  }
}

type Yaml = Pick<typeof YamlPackage, 'isMap' | 'isNode' | 'isScalar' | 'parseDocument' | 'visit'>

function readFields({ isMap, isNode, isScalar, parseDocument, visit }: Yaml, front: string): FrontMatter {
  // The parser's check for duplicates takes quadratic time, so they are found below.
  const document = parseDocument(front, { uniqueKeys: false })
  const [error] = document.errors
  if (error) throw error
  const fields = new Map<string, Json>()
  const warnings: string[] = []
  const warn = (message: string): void => void (warnings.length < MAX_SKILL_WARNINGS && warnings.push(message))
  if (!isMap(document.contents)) return { fields: {}, warnings }
  for (const { key, value } of document.contents.items) {
    const name = String(isScalar(key) ? key.value : key)
    if (fields.has(name)) {
      warn(`The field '${shorten(name)}' occurs twice; the first one counts.`)
      continue
    }
    let json: Json | undefined
    if (value === null) json = null
    if (isNode(value)) {
      // Each alias is looked for in the whole document, and a few can stand for an enormous value.
      let hasAlias = false
      visit(value, { Alias: () => ((hasAlias = true), visit.BREAK) })
      if (!hasAlias) json = readValue(() => value.toJS(document))
    }
    if (json === undefined)
      warn(`The field '${shorten(name)}' is left out: it is nested too deep, or has YAML aliases.`)
    else fields.set(name, json)
  }
  return { fields: Object.fromEntries(fields), warnings }
}

/** Returns undefined for a value that JSON cannot hold. */
function readValue(read: () => unknown): Json | undefined {
  try {
    const json = toJson(read())
    if (json === undefined || notJson(json) !== undefined) return undefined
    return json
  } catch {
    return undefined
  }
}

const PLAIN_VALUE = /^([A-Za-z][\w.-]*):[ \t]+([^\s"'[{|>&*!%@`#].*)$/gm

/** Quotes the values of top-level fields that YAML cannot read as they are, as in `description: Use when: always`. */
function quoteValues(front: string): string {
  return front.replaceAll(PLAIN_VALUE, (line, name: string, value: string) =>
    value.includes(': ') || value.trimEnd().endsWith(':') ? `${name}: ${JSON.stringify(value.trimEnd())}` : line,
  )
}
