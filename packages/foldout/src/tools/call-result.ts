/**
 * One part of a tool's answer in the MCP format: text, an image, audio, a resource link or an embedded resource.
 *
 * @example
 * ```ts
 * const content: ToolContent[] = [
 *   { type: 'text', text: 'The front door:' },
 *   { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' },
 * ]
 * ```
 */
export interface ToolContent {
  readonly type: string
  readonly [field: string]: unknown
}

/**
 * A tool's answer in the MCP format. Other fields are kept too.
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

/** Creates an answer with one text. */
export function createTextResult(text: string): CallResult {
  return { content: [{ type: 'text', text }] }
}

/** Creates a failed answer with one text that the model can act on. */
export function createErrorResult(message: string): CallResult {
  return { content: [{ type: 'text', text: message }], isError: true }
}
