import { deferPattern } from '../core/defer-pattern.ts'
import type { MediaPart, ProviderAdapter, TextPart, UserMessage } from '../adapters/contract.ts'
import { countBytes, describePart } from '../adapters/user-parts.ts'
import { FoldoutError } from '../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import { readMedia } from './input-media.ts'
import { MAX_INPUT_BYTES, MAX_INPUT_NAME_CHARACTERS, MAX_INPUT_PARTS } from './limits.ts'

/**
 * The user input: a string, or a list of texts, images and files.
 *
 * @example
 * ```ts
 * const input: AgentInput = [
 *   { type: 'text', text: 'What does this receipt say?' },
 *   { type: 'image', url: 'https://example.com/receipt.png' },
 * ]
 * ```
 */
export type AgentInput = string | readonly InputPart[]

/**
 * One part of the user input.
 *
 * @example
 * ```ts
 * const part: InputPart = { type: 'file', url: 'https://example.com/terms.pdf', name: 'terms.pdf' }
 * ```
 */
export type InputPart = TextPart | InputMedia

/**
 * An image or a file in the user input. `data` contains its bytes, or those bytes in Base64; `url` is the address from
 * which the provider loads it, or a `data:` URL, which is decoded right away. `mediaType` may be left out for PNG,
 * JPEG, GIF, WebP and PDF.
 *
 * @example
 * ```ts
 * const data = new TextEncoder().encode('Delivered in five days.')
 * const part: InputMedia = { type: 'file', data, mediaType: 'text/plain', name: 'terms.txt' }
 * ```
 */
type InputMedia = {
  readonly type: 'image' | 'file'
  /** The name of a file, such as `invoice.pdf`. Most providers show it to the model. */
  readonly name?: string
  readonly mediaType?: string
} & (
  | { readonly data: Uint8Array | string; readonly url?: never }
  | { readonly url: string | URL; readonly data?: never }
)

/** Converts the user input to a message of the conversation. */
export function toUserMessage(input: AgentInput): UserMessage {
  if (typeof input === 'string') return { role: 'user', text: input.toWellFormed() }
  if (!Array.isArray(input) || input.length === 0)
    throw invalid('is neither a string nor a list with at least one part')
  if (input.length > MAX_INPUT_PARTS) throw invalid(`has ${input.length} parts; at most ${MAX_INPUT_PARTS} are allowed`)
  let bytes = 0
  const parts = (input as readonly InputPart[]).map((part, index) => {
    const read = readPart(part, index, MAX_INPUT_BYTES - bytes)
    bytes += 'data' in read ? countBytes(read.data) : 0
    return read
  })
  const text = parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .filter((said) => said !== '')
    .join('\n\n')
  const hasMedia = parts.some(({ type }) => type !== 'text')
  if (!hasMedia) return { role: 'user', text }
  return { role: 'user', text, parts }
}

/** Throws if the model of an adapter does not accept the user input. Nothing has been sent or stored by then. */
export function assertAccepted({ parts = [] }: UserMessage, adapter: ProviderAdapter): void {
  for (const part of parts) {
    if (part.type === 'text') continue
    const reason = refuseInput(adapter, part)
    if (reason !== undefined)
      throw new FoldoutError('input-unsupported', `The model does not accept ${describePart(part)}: ${reason}`)
  }
}

/** Says why a model does not accept an image or a file; undefined if it does. */
export function refuseInput(adapter: ProviderAdapter, part: MediaPart): string | undefined {
  if (adapter.refuseInput) return adapter.refuseInput(part)
  return `The adapter '${adapter.name}' accepts only text. Use another adapter, or describe the ${part.type} in words.`
}

function readPart(part: unknown, index: number, bytesLeft: number): TextPart | MediaPart {
  const place = `part ${index + 1}`
  if (!isObject(part)) throw invalid(`has something in ${place} that is not an object with a type`)
  const { type, text, name, data, url, mediaType } = part
  if (type === 'text') {
    if (typeof text !== 'string') throw invalid(`has no text in ${place}`)
    return { type, text: text.toWellFormed() }
  }
  if (type !== 'image' && type !== 'file') throw invalid(`has a type in ${place} that is not 'text', 'image' or 'file'`)
  if ((data === undefined) === (url === undefined)) throw invalid(`needs either data or url in ${place}, not both`)
  const fail = (problem: string): FoldoutError => invalid(`${problem}, in ${place}`)
  const media = readMedia({ type, data, url, mediaType, bytesLeft }, fail)
  return { type, ...readName(name, fail), ...media }
}

// Names reach providers in form fields and headers, where a line break could start another one.
const getControl = deferPattern(String.raw`[\p{Cc}\p{Cs}]`, 'u')

function readName(name: unknown, fail: (problem: string) => FoldoutError): { readonly name?: string } {
  if (name === undefined) return {}
  if (typeof name !== 'string' || name === '' || name.length > MAX_INPUT_NAME_CHARACTERS || getControl().test(name))
    throw fail(
      `has a name that is not a string of 1 to ${MAX_INPUT_NAME_CHARACTERS} characters without control characters`,
    )
  return { name }
}

function invalid(problem: string): FoldoutError {
  return new FoldoutError(
    'input-invalid',
    `The input ${problem}. Pass a string, or a list of parts such as { type: 'text', text } and { type: 'image', data, mediaType }.`,
  )
}
