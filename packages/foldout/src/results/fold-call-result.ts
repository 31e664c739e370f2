import type { CallResult, ToolContent } from '../tools/call-result.ts'
import { isObject } from 'foldout-shared/values'
import { findSizeFault } from '../core/json/measure.ts'
import { cutToBeginning, describeFolded, describeSize } from './describe-folded.ts'
import { LARGEST_WHOLE_BYTES } from './limits.ts'
import { countResultTokens } from './tokens.ts'

/**
 * A text that was folded out of a result, as described to the model.
 *
 * @example
 * ```ts
 * const kept: KeptText = { handle: 'r1', outline: undefined }
 * ```
 */
export interface KeptText {
  readonly handle: string
  /** The shape of JSON; missing for other texts. */
  readonly outline: string | undefined
}

/**
 * How the results of a server's tools are folded.
 *
 * @example
 * ```ts
 * const texts: string[] = []
 * const options: CallFoldOptions = {
 *   limit: 8_000,
 *   isChecked: false,
 *   lifetime: 'It is kept until the server ends.',
 *   keep: async (text) => ({ handle: `r${texts.push(text)}`, outline: undefined }),
 * }
 * ```
 */
export interface CallFoldOptions {
  /** Texts with more tokens are folded. */
  readonly limit: number
  /** Whether the client checks structured content, and refuses a result without it. */
  readonly isChecked: boolean
  /** A sentence on how long the text can be read. */
  readonly lifetime: string
  /** Stores a text. Rejects if that fails. */
  keep(text: string): Promise<KeptText>
}

/** Where the `_meta` of a result has the handles of what was folded. */
const FOLDED = 'foldout/folded'

/**
 * Returns the result of a server's tool with its large texts folded. Pictures and sounds stay as they are.
 *
 * @example
 * ```ts
 * const keep = async () => ({ handle: 'r1', outline: undefined })
 * const options = { limit: 100, isChecked: false, lifetime: 'It is kept for an hour.', keep }
 * const { content } = await foldCallResult({ content: [{ type: 'text', text: 'ok\n'.repeat(900) }] }, options)
 * String(content[0]?.text).slice(0, 22) // => 'This result is folded:'
 * ```
 */
export async function foldCallResult(result: CallResult, options: CallFoldOptions): Promise<CallResult> {
  const { limit, isChecked } = options
  if (result['resultType'] === 'input_required') return result
  const large = findLarge(result, limit)
  if (large.length === 0) return result
  const isRefused = isChecked && result.structuredContent !== undefined && result.isError !== true
  if (isRefused && !isLonger(result, LARGEST_WHOLE_BYTES)) return result
  const folded: Folded[] = []
  for (const one of large) folded.push(await fold(one, options))
  const shown = replaceTexts(result, folded)
  if (isRefused) return { ...shown, isError: true }
  return shown
}

/** Whether the JSON of a value has more bytes. Most have not, so they are not written. */
function isLonger(value: unknown, bytes: number): boolean {
  return findSizeFault(value, { maxBytes: bytes, maxDepth: Infinity })?.type === 'large'
}

/** A text that is too large, and which pieces of the content it stands for. */
interface LargeText {
  readonly text: string
  readonly pieces: ReadonlySet<ToolContent>
  readonly isStructured: boolean
}

interface Folded extends LargeText {
  readonly shown: string
  readonly handle: string | undefined
}

/** Texts are counted together, because a model reads them together. Resources have names, so each stands for itself. */
function findLarge({ content, structuredContent }: CallResult, limit: number): readonly LargeText[] {
  const found: LargeText[] = []
  const texts = content.filter(({ type, text }) => type === 'text' && typeof text === 'string')
  const text = texts.map((piece) => piece['text']).join('\n')
  const isLarge = (one: string): boolean => one.length > limit && countResultTokens(one) > limit
  const structured = isLonger(structuredContent, limit) ? JSON.stringify(structuredContent) : undefined
  const isTwice = structured !== undefined && texts.length === 1 && isSameJson(text, structuredContent, structured)
  if (structured !== undefined && isLarge(structured))
    found.push({ text: structured, pieces: new Set(isTwice ? texts : []), isStructured: true })
  if (!isTwice && isLarge(text)) found.push({ text, pieces: new Set(texts), isStructured: false })
  for (const piece of content) {
    const inner = piece.type === 'resource' ? getText(piece) : undefined
    if (inner !== undefined && isLarge(inner))
      found.push({ text: inner, pieces: new Set([piece]), isStructured: false })
  }
  return found
}

/** Servers repeat structured content as text, for clients that do not support it. */
function isSameJson(text: string, value: unknown, written: string): boolean {
  return text === written || (text.length > written.length && text === JSON.stringify(value, undefined, 2))
}

function getText(piece: ToolContent): string | undefined {
  const { text, resource } = piece
  if (typeof text === 'string') return text
  if (isObject(resource) && typeof resource['text'] === 'string') return resource['text']
  return undefined
}

async function fold(large: LargeText, { keep, lifetime }: CallFoldOptions): Promise<Folded> {
  const { text } = large
  try {
    const { handle, outline } = await keep(text)
    return { ...large, handle, shown: describeFolded({ text, handle, outline, lifetime }) }
  } catch (error) {
    const reason = (error as Error).message
    const shown = `Only the beginning of this result is here: it has ${describeSize(text)}, and could not be stored (${reason}). Call the tool again and ask for less, such as one part, one page or a filtered result.\n\nIt begins:\n${cutToBeginning(text)}`
    return { ...large, handle: undefined, shown }
  }
}

/** Puts the notice in place of the first piece it replaces. */
function replaceTexts(result: CallResult, folded: readonly Folded[]): CallResult {
  const { structuredContent, _meta: meta, content, ...rest } = result as CallResult & { readonly _meta?: object }
  const shown: ToolContent[] = []
  const used = new Set<Folded>()
  for (const piece of content) {
    const one = folded.find(({ pieces }) => pieces.has(piece))
    if (!one) shown.push(piece)
    else if (!used.has(one)) shown.push(toPiece(piece, one.shown))
    if (one) used.add(one)
  }
  for (const one of folded) if (!used.has(one)) shown.push({ type: 'text', text: one.shown })
  const handles = folded.flatMap(({ handle, text }) =>
    handle === undefined ? [] : [{ handle, characters: text.length }],
  )
  const isStructured = folded.some((one) => one.isStructured)
  return {
    ...rest,
    content: shown,
    ...(!(structuredContent === undefined || isStructured) && { structuredContent }),
    _meta: { ...meta, [FOLDED]: handles },
  }
}

/** A resource becomes a text that names it. */
function toPiece(piece: ToolContent, text: string): ToolContent {
  const { resource } = piece
  if (!isObject(resource)) return { ...piece, text }
  const { annotations } = piece
  const named = `Resource ${String(resource['uri'])}\n${text}`
  return { type: 'text', text: named, ...(annotations !== undefined && { annotations }) }
}
