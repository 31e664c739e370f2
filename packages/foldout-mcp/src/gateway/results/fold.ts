import { isObject } from 'foldout-shared/values'
import type { CallResult, ToolContent } from 'foldout/catalog'
import type * as resultsRoom from 'foldout/results'
import { isSmall } from '../../shared/fields.ts'
import { KEPT_MS, LARGEST_WHOLE_BYTES } from './limits.ts'

type ResultsRoom = typeof resultsRoom

/** A text that was folded out of a result, as described to the model. */
export interface TakenText {
  readonly handle: string
  /** Missing if the text is not JSON. */
  readonly outline: string | undefined
}

export interface FoldOptions {
  /** Texts with more tokens are folded. */
  readonly limit: number
  /** Whether the client checks structured content, and refuses a result without it. */
  readonly isChecked: boolean
  /** Stores a text. Rejects if that fails. */
  keep(text: string): Promise<TakenText>
}

/** Where the `_meta` of a result has the handles of what was folded. */
const FOLDED = 'foldout/folded'

/** The same result with its large texts folded. Pictures and sounds stay as they are. */
export async function foldResult(result: CallResult, options: FoldOptions): Promise<CallResult> {
  const { limit, isChecked } = options
  if (result['resultType'] === 'input_required' || !mayExceed(result, limit)) return result
  // Loaded when something is first folded.
  const room = await import('foldout/results')
  const large = findLarge(result, limit, room)
  if (large.length === 0) return result
  const isRefused = isChecked && result.structuredContent !== undefined && result.isError !== true
  if (isRefused && Buffer.byteLength(JSON.stringify(result)) <= LARGEST_WHOLE_BYTES) return result
  const folded: Folded[] = []
  for (const one of large) folded.push(await fold(one, options, room))
  const shown = replaceTexts(result, folded)
  if (isRefused) return { ...shown, isError: true }
  return shown
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

/** Whether a result has enough characters to be too large. Most do not, so their tokens are not counted. */
export function mayExceed({ content, structuredContent }: CallResult, limit: number): boolean {
  let left = limit
  for (const piece of content) left -= getText(piece)?.length ?? 0
  return left < 0 || !isSmall(structuredContent, limit)
}

/** Texts are counted together, because a model reads them together. Resources have names, so each stands for itself. */
function findLarge(
  { content, structuredContent }: CallResult,
  limit: number,
  { countResultTokens }: ResultsRoom,
): readonly LargeText[] {
  const found: LargeText[] = []
  const texts = content.filter(({ type, text }) => type === 'text' && typeof text === 'string')
  const text = texts.map((piece) => piece['text']).join('\n')
  const isLarge = (one: string): boolean => one.length > limit && countResultTokens(one) > limit
  const structured = isSmall(structuredContent, limit) ? undefined : JSON.stringify(structuredContent)
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

const LIFETIME = `It is kept for ${KEPT_MS / 60_000} minutes after each use.`

async function fold(large: LargeText, { keep }: FoldOptions, room: ResultsRoom): Promise<Folded> {
  const { text } = large
  try {
    const { handle, outline } = await keep(text)
    return { ...large, handle, shown: room.describeFolded({ text, handle, outline, lifetime: LIFETIME }) }
  } catch (error) {
    const reason = (error as Error).message
    const shown = `Only the beginning of this result is here: it has ${room.describeSize(text)}, and could not be stored (${reason}). Call the tool again and ask for less, such as one part, one page or a filtered result.\n\nIt begins:\n${room.cutToBeginning(text)}`
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
