import { isObject } from 'foldout-shared/values'
import { createErrorResult, type CallResult, type ToolContent } from './call-result.ts'
import { fail, ok, type ToolImage, type ToolResult } from './result.ts'

/** Reads a tool's return value as an answer. Content that the server left out becomes an empty list. */
export function readCallResult(name: string, given: unknown): CallResult {
  if (!isObject(given)) return createErrorResult(`Tool '${name}' failed: it did not return a result.`)
  if (Array.isArray(given['content'])) return given as CallResult
  return { ...given, content: [] }
}

/** Turns an answer into a result for a conversation, which can hold text and images. The result includes the whole answer. */
export function toToolResult(answer: CallResult): ToolResult {
  // Some servers send lists with null entries.
  const content = answer.content.filter((piece) => isObject(piece) && typeof piece.type === 'string')
  const message = describeContent(content, answer.structuredContent)
  if (answer.isError === true) return { ...fail(message), answer }
  const images = content.flatMap(toImages)
  return { ...ok(message, answer), ...(images.length > 0 && { images }), answer }
}

/**
 * Turns a result into an answer in the MCP format. `isStructured` says whether the tool declares a schema for its
 * values.
 */
export function toCallResult(result: ToolResult, options: { readonly isStructured?: boolean } = {}): CallResult {
  if (result.answer) return result.answer
  if (!result.ok) return createErrorResult(result.message)
  const images = (result.images ?? []).map(({ mimeType, data }) => ({ type: 'image', mimeType, data }))
  const content: readonly ToolContent[] = [{ type: 'text', text: result.message }, ...images]
  const isStructured = options.isStructured === true && isObject(result.value)
  if (isStructured) return { content, structuredContent: result.value }
  return { content }
}

/** Wraps an answer unchanged, for a caller that unwraps it: its texts are not joined. */
export function wrapAnswer(answer: CallResult): ToolResult {
  if (answer.isError === true) return { answer, ...fail('') }
  return { answer, ...ok('', answer) }
}

function toImages({ type, mimeType, data }: ToolContent): readonly ToolImage[] {
  if (type === 'image' && typeof mimeType === 'string' && typeof data === 'string') return [{ mimeType, data }]
  return []
}

function describeContent(content: readonly ToolContent[], structuredContent: unknown): string {
  const parts = content.map(describePiece)
  // A tool with structured content need not repeat it as text.
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent))
  return parts.join('\n\n') || 'Done.'
}

function describePiece(content: ToolContent): string {
  const { type, text, uri, mimeType, data } = content
  if (type === 'text' && typeof text === 'string') return text
  const resource = isObject(content['resource']) ? content['resource'] : {}
  if (type === 'resource' && typeof resource['text'] === 'string') return resource['text']
  const words = [type.replaceAll('_', ' '), mimeType, uri ?? resource['uri']]
  const size = typeof data === 'string' ? `, ${Math.ceil((data.length * 3) / 4 / 1024)} KB` : ''
  return `[${words.filter((word) => typeof word === 'string').join(' ')}${size}]`
}
