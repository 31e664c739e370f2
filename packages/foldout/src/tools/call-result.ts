import { isPlainObject } from '../core/json/json.ts'
import { fail, ok, type ToolImage, type ToolResult } from './result.ts'

/** One piece of a tool's answer, as MCP has it: text, an image, audio, a link to a resource, a resource. */
export interface ToolContent {
  readonly type: string
  readonly [field: string]: unknown
}

/**
 * A tool's answer, as MCP has it. Fields that are not named here are kept too.
 *
 * @example
 * const answer: CallResult = { content: [{ type: 'text', text: 'Sent.' }], structuredContent: { id: 7 } }
 */
export interface CallResult {
  readonly content: readonly ToolContent[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly [field: string]: unknown
}

/** An answer of one text. */
export function createTextResult(text: string): CallResult {
  return { content: [{ type: 'text', text }] }
}

/** A failure of one text that the model can act on. */
export function createErrorResult(message: string): CallResult {
  return { content: [{ type: 'text', text: message }], isError: true }
}

/** Reads what a tool gave as an answer. One without content, which some servers leave out, gets an empty list. */
export function readCallResult(name: string, given: unknown): CallResult {
  if (!isPlainObject(given)) return createErrorResult(`Tool '${name}' failed: it did not return a result.`)
  return Array.isArray(given['content']) ? (given as CallResult) : { ...given, content: [] }
}

/** Turns an answer into a result for a conversation, which carries text and pictures. The whole answer goes along. */
export function toToolResult(answer: CallResult): ToolResult {
  // Some servers have holes in their lists.
  const content = answer.content.filter((piece) => isPlainObject(piece) && typeof piece.type === 'string')
  const message = describeContent(content, answer.structuredContent)
  if (answer.isError === true) return { ...fail(message), answer }
  const images = content.flatMap(toImages)
  return { ...ok(message, answer), ...(images.length > 0 ? { images } : {}), answer }
}

/** Turns a result into an answer as MCP has it. `isStructured` says that the tool declares what its values look like. */
export function toCallResult(result: ToolResult, options: { readonly isStructured?: boolean } = {}): CallResult {
  if (result.answer) return result.answer
  if (!result.ok) return createErrorResult(result.message)
  const images = (result.images ?? []).map(({ mimeType, data }) => ({ type: 'image', mimeType, data }))
  const content: readonly ToolContent[] = [{ type: 'text', text: result.message }, ...images]
  const isStructured = options.isStructured === true && isPlainObject(result.value)
  return isStructured ? { content, structuredContent: result.value } : { content }
}

/** Wraps an answer as it is, for a caller that turns it back: its words are not put together. */
export function wrapAnswer(answer: CallResult): ToolResult {
  return answer.isError === true ? { ...fail(''), answer } : { ...ok('', answer), answer }
}

function toImages({ type, mimeType, data }: ToolContent): readonly ToolImage[] {
  return type === 'image' && typeof mimeType === 'string' && typeof data === 'string' ? [{ mimeType, data }] : []
}

function describeContent(content: readonly ToolContent[], structuredContent: unknown): string {
  const parts = content.map(describePiece)
  // A tool with structured content need not say it in words as well.
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent))
  return parts.join('\n\n') || 'Done.'
}

function describePiece(content: ToolContent): string {
  const { type, text, uri, mimeType, data } = content
  if (type === 'text' && typeof text === 'string') return text
  const resource = isPlainObject(content['resource']) ? content['resource'] : {}
  if (type === 'resource' && typeof resource['text'] === 'string') return resource['text']
  const words = [type.replaceAll('_', ' '), mimeType, uri ?? resource['uri']]
  const size = typeof data === 'string' ? `, ${Math.ceil((data.length * 3) / 4 / 1024)} KB` : ''
  return `[${words.filter((word) => typeof word === 'string').join(' ')}${size}]`
}
