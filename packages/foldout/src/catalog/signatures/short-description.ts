import { deferPattern } from '../../core/defer-pattern.ts'
import type { CatalogEntry } from '../tool.ts'
import { oneLine } from './schema/literal.ts'
import { fieldsAt, getSchemaView } from './schema/schema-view.ts'

export interface DescribedTool {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly inputSchema?: CatalogEntry['inputSchema'] | undefined
}

const MAX_LENGTH = 80
/** A sentence is cut after a phrase only if at least this many characters remain. */
const MIN_PHRASE = 40

/** Describes a tool in one line of at most 80 characters: the beginning of its description, or else its name in words. */
export function shortenDescription(tool: DescribedTool): string {
  const sentence = typeof tool.description === 'string' ? getFirstSentence(tool.description, tool) : ''
  return cut(sentence === '' ? describeByName(tool) : capitalize(sentence))
}

/** Where a description stops saying what the tool does. */
const SECTION =
  /(?:^|\s)(?:args?|arguments|params?|parameters|inputs?|returns?|outputs?|raises|throws|(?:error )?responses?|errors?|status codes?|examples?|usage|notes?|important|warnings?|guardrails|constraints|limitations|requirements|prerequisites|example usage|when (?:not )?to use):(?:\s|$)/i
/** Headings that any description could have. */
const HEADING =
  /^(?:(?:tool )?(?:overview|descriptions?|purpose|summary|about|introduction|background|details|instructions|guidelines|guardrails|rules|important(?: notes?)?|notes?|warnings?|usage|examples?|features|capabilities|behaviou?r|constraints|limitations|requirements|prerequisites|functionality)|(?:when|how) to use(?: (?:it|this(?: tool)?))?|what (?:it|this tool) does)\W*\d*$/i
const PLACEHOLDER =
  /^(?:(?:no|tool|missing)? ?description(?: (?:is |was )?(?:not )?(?:available|provided|accessible|found)\b.*)?|n\/?a|none|null|undefined|todo|tbd|-+)\.?$/i
const ROUTE = /^(?:get|post|put|patch|delete|head|options)\s+\/?\S*$/i

const getLetterOrDigit = deferPattern(String.raw`[\p{L}\p{N}]`, 'u')

function getFirstSentence(description: string, tool: DescribedTool): string {
  const known = new Set([tool.name, tool.title ?? ''].flatMap(getWords).map((word) => word.toLowerCase()))
  let first = ''
  let telling: string | undefined
  for (const given of splitSentences(withoutMarkup(description))) {
    const sentence = withoutOpening(given, tool.name)
    if (!getLetterOrDigit().test(sentence) || HEADING.test(sentence)) continue
    first ||= sentence
    // A heading that only repeats the name is skipped.
    if (getWords(sentence).every((word) => known.has(word.toLowerCase()))) continue
    telling = sentence
    break
  }
  const chosen = telling ?? first
  if (PLACEHOLDER.test(chosen) || ROUTE.test(chosen)) return ''
  return chosen.replace(/[\s.。:;,]+$/u, '')
}

const getPictures = deferPattern(String.raw`[\p{Extended_Pictographic}\u{FE0F}\u{200D}]`, 'gu')

/** Removes Markdown and XML. */
function withoutMarkup(text: string): string {
  return text
    .slice(0, 2_000)
    .replace(/```[^`]*(?:```|$)/g, ' ')
    .replace(/<!--.*?-->/gs, ' ')
    .replace(/<([a-z][\w-]*)(?:\s[^<>]*)?>([^<]*)<\/\1>/gi, '\n\n$2\n\n')
    .replace(/<\/?(?:br|p|b|i|em|strong|ul|ol|li|code|pre|div|span|hr|h[1-6])(?:\s[^<>]*)?\/?>/gi, ' ')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^[ \t]*(?:#{1,6}|>|[-*+]|\d+[.)])[ \t]+(.*)$/gm, '\n$1\n')
    .replace(/(\*\*|__|`)(?=\S)(.*?\S)\1/g, '$2')
    .replace(/(?<![\w*])[*](?=\S)([^*\n]*\S)[*](?![\w*])/g, '$1')
    .replace(getPictures(), (sign) => (/[\d#*©®™]/u.test(sign) ? sign : ''))
}

/** Abbreviations, whose period does not end a sentence. */
const getAbbreviation = deferPattern(
  String.raw`(?:\b(?:e\.g|i\.e|etc|vs|approx|no|nr|inc|ltd|dr|mr|mrs|st|u\.s|fig)|\b\p{L})\.$`,
  'iu',
)

function* splitSentences(text: string): Generator<string> {
  for (const paragraph of text.split(/\n\s*\n|\r\n\s*\r\n/)) {
    const line = oneLine(paragraph)
    const prose = line.slice(0, SECTION.exec(line)?.index)
    let start = 0
    for (const stop of prose.matchAll(/[.!?](?=\s|$)|[。！？]/gu)) {
      const end = stop.index + 1
      if (getAbbreviation().test(prose.slice(Math.max(start, end - 8), end))) continue
      yield prose.slice(start, end).trim()
      start = end
    }
    yield prose.slice(start).trim()
  }
}

/** Phrases that could start any description. */
const OPENING =
  /^(?:(?:please )?(?:use|call) (?:this|it)(?: (?:tool|function|command|endpoint|api))?(?: when you (?:want|need))? to|(?:this|the|a|an) (?:[\w-]+ )?(?:tool|function|command|endpoint|api|method|operation)(?: (?:that |which )?(?:allows|lets|enables|helps|can be used|is used|is|will|can)(?: you| users?| the user)?(?: to)?| that| to| for|:)?|(?:allows|lets|enables)(?: you| users?| the user) to|(?:a )?tool (?:to|for|that)|(?:tool )?(?:description|purpose|summary|overview|what it does):)\s+/i

const getLetter = deferPattern(String.raw`\p{L}`, 'u')

function withoutOpening(sentence: string, name: string): string {
  const isNamed = sentence.slice(0, name.length).toLowerCase() === name.toLowerCase()
  const behind = isNamed ? /^\s*(?:[:–—]|-(?=\s))\s*(.+)$/.exec(sentence.slice(name.length))?.[1] : undefined
  const behindName = behind ?? sentence
  const behindOpening = behindName.replace(OPENING, '')
  if (getLetter().test(behindOpening)) return behindOpening.trim()
  return behindName.trim()
}

const getHumps = deferPattern(String.raw`(\p{Ll}|\p{N})(\p{Lu})`, 'gu')
const getGaps = deferPattern(String.raw`[^\p{L}\p{N}]+`, 'u')

const getWords = (text: string): readonly string[] =>
  text
    .replace(getHumps(), '$1 $2')
    .split(getGaps())
    .filter((word) => word !== '')

const MAX_FIELDS = 3

/** `Get user info: user id, format`. */
function describeByName(tool: DescribedTool): string {
  const title = oneLine(tool.title ?? '')
  const route = typeof tool.description === 'string' ? oneLine(tool.description) : ''
  const words = getWords(tool.name).join(' ')
  const plainName = words.includes(' ') || !ROUTE.test(route) ? words : `${words} (${route})`
  const subject = title === '' ? plainName : title
  const fields = fieldsAt(getSchemaView(tool.inputSchema, tool.inputSchema)).map(({ name }) =>
    getWords(name).join(' ').toLowerCase(),
  )
  const shown = fields.filter((field) => field !== '').slice(0, MAX_FIELDS)
  return capitalize(shown.length === 0 ? subject : `${subject}: ${shown.join(', ')}`)
}

function capitalize(text: string): string {
  const [first = ''] = text
  return first.toUpperCase() + text.slice(first.length)
}

/** Where the first phrase of a sentence usually ends. */
const PHRASE_END =
  /[,;:]\s|\s[-–—(]|\s(?:which|that|such as|including|by|using|with|from|based on|so that|and|or|for|in)\s/g

function cut(text: string): string {
  const given = removeOpenBracket(oneLine(text))
  if (takeWidth(given, MAX_LENGTH) === given) return given
  const line = given.replace(/\s*\([^()]{20,}\)/g, '')
  if (takeWidth(line, MAX_LENGTH) === line) return line
  const head = takeWidth(line, MAX_LENGTH - 1)
  const phrases = [...head.matchAll(PHRASE_END)].map(({ index }) => index).filter((index) => index >= MIN_PHRASE)
  const word = head.lastIndexOf(' ')
  const end = phrases.at(-1) ?? (word >= MIN_PHRASE / 2 ? word : head.length)
  return `${removeOpenBracket(head.slice(0, end)).replace(/[\s,;:.(–—-]+$/, '')}…`
}

/** Removes a bracket that is never closed, and everything after it. */
function removeOpenBracket(text: string): string {
  const open = Math.max(text.lastIndexOf('('), text.lastIndexOf('['))
  const isOpen = open > 0 && !/[)\]]/.test(text.slice(open))
  if (isOpen) return text.slice(0, open).trimEnd()
  return text
}

/** Takes as many characters as fit. East Asian characters take two columns, and also more tokens. */
function takeWidth(text: string, width: number): string {
  let taken = 0
  let end = 0
  for (const character of text) {
    taken += (character.codePointAt(0) ?? 0) >= 0x2e80 && character.length === 1 ? 2 : 1
    if (taken > width) break
    end += character.length
  }
  return text.slice(0, end)
}
