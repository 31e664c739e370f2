import { isPlainObject } from '../../../core/json/json.ts'
import type { CallResult, CatalogEntry, ToolContent } from '../../tool.ts'

/**
 * What tools return to one program beside text. A program is given a short name for each picture, sound or file, because it
 * can do nothing with the bytes but pass them on; whoever reads its result gets the thing itself.
 */
export interface Attachments {
  /** What a call gives to the program. */
  valueOf(entry: CatalogEntry, result: CallResult): unknown
  /** Arguments with the bytes in place of their names. */
  restore(args: unknown): unknown
  /** The parts that a text names, each once. */
  namedIn(text: string): readonly ToolContent[]
}

export function createAttachments(): Attachments {
  const parts: { readonly part: ToolContent; readonly bytes: string }[] = []
  const nameFor = (part: ToolContent, bytes: string): string => `attachment:${parts.push({ part, bytes })}`

  function withoutBytes(part: ToolContent): ToolContent {
    const { data, resource } = part
    if (typeof data === 'string') return { ...part, data: nameFor(part, data) }
    if (!isPlainObject(resource) || typeof resource['blob'] !== 'string') return part
    return { ...part, resource: { ...resource, blob: nameFor(part, resource['blob']) } }
  }

  function restore(value: unknown): unknown {
    if (typeof value === 'string') return parts[Number(/^attachment:(\d+)$/.exec(value)?.[1]) - 1]?.bytes ?? value
    if (Array.isArray(value)) return value.map(restore)
    if (!isPlainObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, restore(inner)]))
  }

  return {
    valueOf({ outputSchema }, { content, structuredContent }) {
      const isText = content.every(({ type, text }) => type === 'text' && typeof text === 'string')
      if (structuredContent !== undefined && (isText || outputSchema !== undefined)) return structuredContent
      return isText ? jsonOrText(getText(content)) : content.map(withoutBytes)
    },
    restore: (args) => (parts.length === 0 ? args : restore(args)),
    namedIn(text) {
      const named = new Set(Array.from(text.matchAll(/attachment:(\d+)/g), ([, number]) => parts[Number(number) - 1]))
      return [...named].flatMap((found) => (found ? [found.part] : []))
    },
  }
}

export function getText(content: readonly ToolContent[]): string {
  return content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
