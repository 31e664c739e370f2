import type { CallResult, Content } from '../catalog/tool.ts'
import { fail, ok, type ToolImage, type ToolResult } from '../tools/result.ts'

/** An answer as MCP has it, for a conversation that carries text and pictures. The whole of it is the value. */
export function toolResult(result: CallResult): ToolResult {
  const parts = result.content.map(contentText)
  // A tool with structured content need not say it in words as well.
  if (parts.length === 0 && result.structuredContent !== undefined) parts.push(JSON.stringify(result.structuredContent))
  const message = parts.join('\n\n') || 'Done.'
  if (result.isError === true) return fail(message)
  const images = result.content.flatMap(toImage)
  return images.length > 0 ? { ...ok(message, result), images } : ok(message, result)
}

function toImage({ type, mimeType, data }: Content): readonly ToolImage[] {
  return type === 'image' && typeof mimeType === 'string' && typeof data === 'string' ? [{ mimeType, data }] : []
}

function contentText(content: Content): string {
  const { type, text, uri, mimeType, resource, data } = content
  if (type === 'text' && typeof text === 'string') return text
  const nested = resource as { readonly text?: unknown; readonly uri?: unknown } | undefined
  if (type === 'resource' && typeof nested?.text === 'string') return nested.text
  const what = [type.replaceAll('_', ' '), mimeType, uri ?? nested?.uri].filter((part) => typeof part === 'string')
  const size = typeof data === 'string' ? `, ${Math.ceil((data.length * 3) / 4 / 1024)} KB` : ''
  return `[${what.join(' ')}${size}]`
}
