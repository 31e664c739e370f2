import type { MediaPart, UserMessage } from '../contract.ts'
import { describePart, getUserParts } from '../user-parts.ts'

/** The types of images that the API accepts. */
export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const

const PDF = 'application/pdf'

/** A block of what the user said, in the form that all versions of the API accept. */
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

/** Why the API does not accept an image or a file; undefined if it does. Every current model of Claude reads both. */
export function refuseMedia(part: MediaPart): string | undefined {
  const { type, mediaType } = part
  if (type === 'image') {
    if (mediaType === undefined || IMAGE_TYPES.some((known) => known === mediaType)) return undefined
    return `Claude takes images as JPEG, PNG, GIF or WebP, not as ${mediaType}. Convert the image.`
  }
  if (!('data' in part)) {
    if (mediaType === undefined || mediaType === PDF) return undefined
    return `Claude takes only PDF files by their address, not ${mediaType}. Load the file and pass its bytes as data.`
  }
  if (mediaType === PDF || mediaType?.startsWith('text/')) return undefined
  return `Claude takes files as PDF or text, not as ${mediaType}. Convert the file, or pass what is in it as text.`
}

/** What the user said as the API accepts it. The API refuses empty texts. */
export function toUserBlocks(message: UserMessage): readonly UserBlock[] {
  return getUserParts(message).flatMap((part): readonly UserBlock[] => {
    if (part.type !== 'text') return [toMediaBlock(part)]
    return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
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
  // The API refuses a document without text.
  if (text.trim() === '') return { type: 'text', text: describePart(part) }
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, ...title }
}

function decodeText(base64: string): string {
  const binary = atob(base64)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  return new TextDecoder().decode(bytes)
}
