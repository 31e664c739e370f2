import type { MediaPart, Message, TextPart, UserMessage } from './contract.ts'

/** The parts of what the user said, at least one. */
export function getUserParts({ text, parts }: UserMessage): readonly (TextPart | MediaPart)[] {
  return parts ?? [{ type: 'text', text }]
}

/** Says what an image or a file is without its content, for models and people who do not get it: `[image/png, 12 KB]`. */
export function describePart(part: MediaPart): string {
  const { type, name, mediaType } = part
  const size = 'data' in part ? `${Math.ceil(countBytes(part.data) / 1024)} KB` : part.url
  return `[${[name, mediaType ?? type, size].filter((word) => word !== undefined).join(', ')}]`
}

/** What the user said as text, with images and files described. */
export function describeUserMessage(message: UserMessage): string {
  return getUserParts(message)
    .map((part) => (part.type === 'text' ? part.text : describePart(part)))
    .join('\n\n')
}

/** How many bytes a Base64 text stands for. */
export function countBytes(base64: string): number {
  let padding = 0
  if (base64.endsWith('==')) padding = 2
  else if (base64.endsWith('=')) padding = 1
  return Math.floor((base64.length * 3) / 4) - padding
}

/** The address for an interface that accepts the content only as one. */
export function toDataUrl({ mediaType, data }: { readonly mediaType: string; readonly data: string }): string {
  return `data:${mediaType};base64,${data}`
}

/** The address of an image or a file, which may contain it. */
export function toAddress(part: MediaPart): string {
  if ('data' in part) return toDataUrl(part)
  return part.url
}

/** What a model can be given besides text. */
export type InputKind = MediaPart['type']

/** Why a model is not given an image or a file that its adapter was not set up for; undefined if it is. */
export function refuseKind(
  { type }: MediaPart,
  { kinds, model }: { readonly kinds: readonly InputKind[]; readonly model: string },
): string | undefined {
  if (kinds.includes(type)) return undefined
  const instead = kinds.length === 0 ? 'Use another model' : `It takes ${kinds.join('s and ')}s`
  return `The model '${model}' is not known to take ${type}s. ${instead}, or say what it takes with the option input.`
}

/** Whether a message has images or files. */
export function hasMedia(message: Message): message is UserMessage & Required<Pick<UserMessage, 'parts'>> {
  return message.role === 'user' && message.parts !== undefined
}

/** A conversation for a model that cannot be given some of its images and files: these are described instead. */
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
