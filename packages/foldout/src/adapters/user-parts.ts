import type { MediaPart, Message, TextPart, UserMessage } from './contract.ts'

/** Returns the parts of a user message, at least one. */
export function getUserParts({ text, parts }: UserMessage): readonly (TextPart | MediaPart)[] {
  return parts ?? [{ type: 'text', text }]
}

/**
 * Describes an image or a file without its content, for models and people who do not receive it: `[image/png, 12 KB]`.
 */
export function describePart(part: MediaPart): string {
  const { type, name, mediaType } = part
  const size = 'data' in part ? `${Math.ceil(countBytes(part.data) / 1024)} KB` : part.url
  return `[${[name, mediaType ?? type, size].filter((word) => word !== undefined).join(', ')}]`
}

/** Formats a user message as text, with descriptions of its images and files. */
export function describeUserMessage(message: UserMessage): string {
  return getUserParts(message)
    .map((part) => (part.type === 'text' ? part.text : describePart(part)))
    .join('\n\n')
}

/** Returns the number of bytes that a Base64 string encodes. */
export function countBytes(base64: string): number {
  let padding = 0
  if (base64.endsWith('==')) padding = 2
  else if (base64.endsWith('=')) padding = 1
  return Math.floor((base64.length * 3) / 4) - padding
}

/** Creates a data URL, for APIs that accept content only as a URL. */
export function toDataUrl({ mediaType, data }: { readonly mediaType: string; readonly data: string }): string {
  return `data:${mediaType};base64,${data}`
}

/** Returns the URL of an image or a file, which may be a data URL. */
export function toAddress(part: MediaPart): string {
  if ('data' in part) return toDataUrl(part)
  return part.url
}

/** A kind of input that a model may accept besides text. */
export type InputKind = MediaPart['type']

/** Says why a model cannot take an image or a file that its adapter is not configured for; undefined if it can. */
export function refuseKind(
  { type }: MediaPart,
  { kinds, model }: { readonly kinds: readonly InputKind[]; readonly model: string },
): string | undefined {
  if (kinds.includes(type)) return undefined
  const instead = kinds.length === 0 ? 'Use another model' : `It accepts ${kinds.join('s and ')}s`
  return `The model '${model}' is not known to accept ${type}s. ${instead}, or list what it accepts in the option input.`
}

/** Whether a message has images or files. */
export function hasMedia(message: Message): message is UserMessage & Required<Pick<UserMessage, 'parts'>> {
  return message.role === 'user' && message.parts !== undefined
}

/** Replaces the images and files that a model does not accept with descriptions. */
export function withoutRefused(
  messages: readonly Message[],
  refuse: (part: MediaPart) => string | undefined,
): { readonly messages: readonly Message[]; readonly refused: readonly string[] } {
  if (!messages.some(hasMedia)) return { messages, refused: [] }
  const refused: string[] = []
  const kept = messages.map((message): Message => {
    if (!hasMedia(message)) return message
    const parts = message.parts.map((part): TextPart | MediaPart => {
      if (part.type === 'text') return part
      const reason = refuse(part)
      if (reason === undefined) return part
      refused.push(reason)
      return { type: 'text', text: describePart(part) }
    })
    return { ...message, parts }
  })
  return { messages: kept, refused }
}
