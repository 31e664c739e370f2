import { formatRounded } from 'foldout-shared/numbers'

const DEFAULT_LANGUAGE = 'en-US'

/**
 * The browser's language. It may be invalid, such as `en-US@posix`; then it is replaced for the whole page, because
 * the chart library uses it to format numbers while it loads. The first view loads this module earlier.
 */
const language = readLanguage()

function readLanguage(): string {
  const [valid] = getValid(navigator.language)
  if (valid !== undefined) return valid
  Object.defineProperty(navigator, 'language', { value: DEFAULT_LANGUAGE })
  return DEFAULT_LANGUAGE
}

function getValid(name: string): readonly string[] {
  try {
    return Intl.getCanonicalLocales(name)
  } catch {
    return []
  }
}

const shares = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 })

export const formatNumber = (value: number): string => formatRounded(value)
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })
/** A number for an axis, which has little room. */
export const formatShort = (value: number): string => {
  if (value < 1e6) return formatNumber(value)
  return short.format(value)
}
export const formatShare = (value: number): string => shares.format(value)
export const formatSigned = (value: number): string => `${getSign(value)}${formatNumber(Math.abs(value))}`
export const formatSeconds = (ms: number): string => `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`
function getSign(value: number): string {
  if (value === 0) return '±'
  if (value > 0) return '+'
  return '−'
}

/**
 * Characters without a glyph, and those that change the direction of text. Not line breaks and tabs, nor those that belong to an
 * emoji before them.
 */
const INVISIBLE =
  /(?![\n\r\t])(?<!\p{Extended_Pictographic}\uFE0F?)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}\p{Default_Ignorable_Code_Point}]/gu
const LONGEST_LABEL = 200

const toCode = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** A name from any source, safe to show: invisible characters are spelled out, and a very long name is cut. */
export function toLabel(text: string, most = LONGEST_LABEL): string {
  const start = text.length > most ? `${text.slice(0, most)}…` : text
  return start.replaceAll(INVISIBLE, (found) => `<${toCode(found)}>`)
}

interface TextPart {
  readonly text: string
  /** There for an invisible character. */
  readonly code?: string
}

/** More invisible characters than this are not marked one by one. */
const MOST_MARKS = 2_000

/** A text in parts: what can be seen, and each invisible character with its code. */
export function findInvisible(text: string): readonly TextPart[] {
  const parts: TextPart[] = []
  let from = 0
  for (const { index, 0: found } of text.matchAll(INVISIBLE)) {
    if (index > from) parts.push({ text: text.slice(from, index) })
    parts.push({ text: found, code: toCode(found) })
    from = index + found.length
    if (parts.length > MOST_MARKS) break
  }
  if (from < text.length || parts.length === 0) parts.push({ text: text.slice(from).replaceAll(INVISIBLE, '') })
  return parts
}

/** A time as minutes and seconds, such as 9:05. */
export function formatTime(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

const clock = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' })
const exactClock = new Intl.DateTimeFormat(language, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
})
export const formatTimeOfDay = (at: number): string => exactClock.format(at)
export const formatClock = (at: number): string => clock.format(at)
