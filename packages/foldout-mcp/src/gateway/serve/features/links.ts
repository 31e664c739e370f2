import type { RawTool } from 'foldout/catalog'
import { isObject, type JsonObject } from 'foldout-shared/values'

/** The URI that clients use for a resource. */
type Rename = (uri: string) => string

/** A tool whose results name resources by the URIs that clients use. */
export function nameResources(tool: RawTool, rename: Rename): RawTool {
  const { call } = tool
  if (!call) return tool
  return { ...tool, call: (args, context) => call(args, context).then((result) => renameInResult(result, rename)) }
}

/** The result of a call, with the URIs that clients use. Structured content is data of the server, and stays as it is. */
export function renameInResult<Result extends object>(result: Result, rename: Rename): Result {
  const { content } = result as JsonObject
  // Most results name none.
  if (!Array.isArray(content) || !content.some(isLink)) return result
  return replaceItems(result, 'content', (piece) => renameLink(piece, rename))
}

/** The messages of a prompt, with the URIs that clients use. */
export function renameInPrompt(result: JsonObject, rename: Rename): JsonObject {
  return replaceItems(result, 'messages', (message) => {
    const { content } = message
    if (Array.isArray(content)) return renameInResult(message, rename)
    const seen = isObject(content) ? renameLink(content, rename) : content
    if (seen === content) return message
    return { ...message, content: seen }
  })
}

/** The contents of a resource, with the URIs that clients use. */
export function renameInContents(result: JsonObject, rename: Rename): JsonObject {
  return replaceItems(result, 'contents', (piece) => renameUri(piece, rename))
}

function isLink(piece: unknown): boolean {
  return isObject(piece) && (piece['type'] === 'resource_link' || piece['type'] === 'resource')
}

function renameLink(piece: JsonObject, rename: Rename): JsonObject {
  if (piece['type'] === 'resource_link') return renameUri(piece, rename)
  const { resource } = piece
  if (piece['type'] !== 'resource' || !isObject(resource)) return piece
  const seen = renameUri(resource, rename)
  if (seen === resource) return piece
  return { ...piece, resource: seen }
}

function renameUri(piece: JsonObject, rename: Rename): JsonObject {
  const { uri } = piece
  if (typeof uri !== 'string') return piece
  const seen = rename(uri)
  if (seen === uri) return piece
  return { ...piece, uri: seen }
}

/** The same value with the items of a list replaced, or the value itself if none has changed. */
function replaceItems<Value extends object>(
  value: Value,
  field: string,
  replace: (item: JsonObject) => JsonObject,
): Value {
  const items: unknown = (value as JsonObject)[field]
  if (!Array.isArray(items)) return value
  const replaced = items.map((item: unknown) => (isObject(item) ? replace(item) : item))
  if (replaced.every((item, i) => item === items[i])) return value
  return { ...value, [field]: replaced }
}
