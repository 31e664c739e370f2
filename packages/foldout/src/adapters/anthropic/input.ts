import type { MediaPart, UserMessage } from '../contract.ts'
import { describePart, getUserParts } from '../user-parts.ts'

/** The types of images that the API accepts. */
export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const

const PDF = 'application/pdf'

/** A block of a user message, in the form that all versions of the API accept. */
export type UserBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; source: ImageSource | AddressSource }
  | { type: 'document'; source: PdfSource | TextSource | AddressSource; title?: string }

interface ImageSource {
  type: 'base64'
  media_type: (typeof IMAGE_TYPES)[number]
  data: string
}
interface PdfSource {
  type: 'base64'
  media_type: typeof PDF
  data: string
}
interface TextSource {
  type: 'text'
  media_type: 'text/plain'
  data: string
}
interface AddressSource {
  type: 'url'
  url: string
}

/**
 * Says why the API does not accept an image or a file, or returns undefined if it does. Every current Claude model
 * reads both.
 */
export function refuseMedia(part: MediaPart): string | undefined {
  const { type, mediaType } = part
  if (type === 'image') {
    if (mediaType === undefined || IMAGE_TYPES.some((known) => known === mediaType)) return undefined
    return `Claude accepts JPEG, PNG, GIF and WebP images, not ${mediaType}. Convert the image.`
  }
  if (!('data' in part)) {
    if (mediaType === undefined || mediaType === PDF) return undefined
    return `Claude accepts only PDF files from a URL, not ${mediaType}. Load the file and pass its bytes as data.`
  }
  if (mediaType === PDF || mediaType?.startsWith('text/')) return undefined
  return `Claude accepts PDF and text files, not ${mediaType}. Convert the file, or pass its content as text.`
}

/** Converts a user message to the form that the API accepts. The API rejects empty texts. */
export function toUserBlocks(message: UserMessage): readonly UserBlock[] {
  return getUserParts(message).flatMap((part): readonly UserBlock[] => {
    if (part.type !== 'text') return [toMediaBlock(part)]
    if (part.text.trim() === '') return []
    return [{ type: 'text', text: part.text }]
  })
}

function toMediaBlock(part: MediaPart): UserBlock {
  if (refuseMedia(part) !== undefined) return { type: 'text', text: describePart(part) }
  if (part.type === 'image') return toImageBlock(part)
  return toDocumentBlock(part)
}

function toImageBlock(part: MediaPart): UserBlock {
  if (!('data' in part)) return { type: 'image', source: { type: 'url', url: part.url } }
  const type = IMAGE_TYPES.find((known) => known === part.mediaType) ?? 'image/png'
  return { type: 'image', source: { type: 'base64', media_type: type, data: part.data } }
}

function toDocumentBlock(part: MediaPart): UserBlock {
  const title = part.name === undefined ? {} : { title: part.name }
  if (!('data' in part)) return { type: 'document', source: { type: 'url', url: part.url }, ...title }
  if (part.mediaType === PDF)
    return { type: 'document', source: { type: 'base64', media_type: PDF, data: part.data }, ...title }
  const text = decodeText(part.data)
  // The API rejects a document without text.
  if (text.trim() === '') return { type: 'text', text: describePart(part) }
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title }
}

function decodeText(base64: string): string {
  const binary = atob(base64)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  return new TextDecoder().decode(bytes)
}
