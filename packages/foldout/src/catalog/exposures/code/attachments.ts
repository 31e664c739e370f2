import { isObject } from 'foldout-shared/values'
import { getTextValue } from '../../learned-output.ts'
import type { CallResult, CatalogEntry, ToolContent } from '../../tool.ts'

/**
 * The images, audio and files that tools return to one program. The program receives a short name for each, because all
 * it can do with the bytes is pass them on. The reader of the program's result receives the content itself.
 */
export interface Attachments {
  /** Converts the result of a call to a value for the program. */
  toValue(entry: CatalogEntry, result: CallResult): unknown
  /** Replaces the names in arguments with the bytes. */
  restore(args: unknown): unknown
  /** Finds the parts that a text names, each once. */
  findNamed(text: string): readonly ToolContent[]
}

export function createAttachments(): Attachments {
  const parts: { readonly part: ToolContent; readonly bytes: string }[] = []
  const nameFor = (part: ToolContent, bytes: string): string => `attachment:${parts.push({ part, bytes })}`

  function withoutBytes(part: ToolContent): ToolContent {
    const { data, resource } = part
    if (typeof data === 'string') return { ...part, data: nameFor(part, data) }
    if (!isObject(resource) || typeof resource['blob'] !== 'string') return part
    return { ...part, resource: { ...resource, blob: nameFor(part, resource['blob']) } }
  }

  function restore(value: unknown): unknown {
    if (typeof value === 'string') return parts[Number(/^attachment:(\d+)$/.exec(value)?.[1]) - 1]?.bytes ?? value
    if (Array.isArray(value)) return value.map(restore)
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, restore(inner)]))
  }

  return {
    toValue({ outputSchema }, result) {
      const { content, structuredContent } = result
      if (structuredContent !== undefined && outputSchema !== undefined) return structuredContent
      return getTextValue(result) ?? content.map(withoutBytes)
    },
    restore: (args) => {
      if (parts.length === 0) return args
      return restore(args)
    },
    findNamed(text) {
      const named = new Set(Array.from(text.matchAll(/attachment:(\d+)/g), ([, number]) => parts[Number(number) - 1]))
      return [...named].flatMap((found) => (found ? [found.part] : []))
    },
  }
}
