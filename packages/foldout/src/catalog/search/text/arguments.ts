import { getStem, getWords } from './words.ts'

/** Text in quotes (no alternative looks past the next mark of its kind), and a capitalized word inside a sentence. */
const VALUE = /`[^`]+`|"[^"]+"|“[^“”]+”|(?<!\p{L})'[^']+'(?!\p{L})|(?<=[\p{Ll}\p{N},] )\p{Lu}\p{L}+/gu
const HAS_NUMBER = /\p{N}/u
const PATH = /^["'`(]*(?:~|\.{1,2})?(?:[A-Za-z]:)?[/\\]/
const BLOB = /^[A-Za-z0-9+/=_-]{20,}$/
const DAY = /^\P{L}*(?:mon|tues|wednes|thurs|fri|satur|sun)days?\P{L}*$/iu
/** What stands before or after a day of the week: "on Monday", "Monday morning", but not "in Monday". */
const BEFORE_DAY = new Set(
  'on next this last by until till every each before after since coming past and or to'.split(' '),
)
const AFTER_DAY = new Set('morning noon afternoon evening night at and or to through until'.split(' '))

/** The words of a request that are probably values for a tool rather than a description of it. */
export interface ArgumentWords {
  /** Names, numbers and quotations: a tool without these words may still be right. */
  readonly values: ReadonlySet<string>
  /** Parts of paths, addresses and blobs, numbers and days: a tool that has these words is hardly more right for it. */
  readonly weak: ReadonlySet<string>
}

export function getArgumentWords(request: string): ArgumentWords {
  const values = new Set<string>()
  const weak = new Set<string>()
  const said: string[] = []
  const tokens = request.split(/\s+/)
  tokens.forEach((token, at) => {
    const argument = getArgument(token, tokens[at - 1], tokens[at + 1])
    said.push(argument === '' ? token : token.slice(0, -argument.length))
    for (const word of getWords(argument)) weak.add(word)
  })
  // A word that is also said outside of arguments counts in full.
  for (const word of getWords(said.join(' '))) {
    if (HAS_NUMBER.test(word)) weak.add(word)
    else weak.delete(word)
  }
  for (const [value] of request.matchAll(VALUE)) for (const word of getWords(value)) values.add(word)
  for (const word of weak) values.add(word)
  return { values, weak }
}

/** Gets the part of a token, up to its end, that is passed to a tool: a path, the path of a URL, an address, a blob, a day. */
function getArgument(token: string, before = '', after = ''): string {
  const host = token.indexOf('://')
  if (host >= 0) {
    const path = token.indexOf('/', host + 3)
    if (path < 0) return ''
    return token.slice(path)
  }
  if (PATH.test(token) || token.includes('@')) return token
  if (BLOB.test(token) && HAS_NUMBER.test(token) && /[A-Za-z]/.test(token)) return token
  if (DAY.test(token) && isDate(before, after)) return token
  return ''
}

function isDate(before: string, after: string): boolean {
  return (
    BEFORE_DAY.has(before.toLowerCase()) || AFTER_DAY.has(after.toLowerCase()) || DAY.test(before) || DAY.test(after)
  )
}

/** A value in a request, and what tools call such a value. */
export interface ValueKind {
  readonly value: string
  readonly kind: string
}

/** Names of norms and models, which look like the number of an issue. */
const NORMS = /^(?:AES|ASCII|BASE|COVID|CP|GPT|HTTP|IEC|IEEE|ISO|MD|MP|RFC|SHA|TLS|UTF|WIN)-/

/** How people write values, and what these are. Of the patterns that match at one place, the first one counts. */
const PATTERNS: readonly (readonly [pattern: RegExp, kinds: readonly string[]])[] = [
  [/(?<!\S)[("'`<]*https?:\/\/\S+/giu, ['url']],
  [/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/gu, ['email']],
  [/(?<![\p{L}\p{N}])(?:PR|pr) ?#?\d+(?![\p{L}\p{N}])/gu, ['pull', 'request']],
  [/(?<!\S)[("'`]*#\d+(?![\p{L}\p{N}])/gu, ['issue']],
  [/(?<!\S)[("'`]*#\p{L}[\p{L}\p{N}_-]*/gu, ['channel']],
  [/(?<![\p{L}\p{N}_/-])[A-Z][A-Z0-9]{1,9}-\d{1,7}(?![\p{L}\p{N}_-])/gu, ['issue']],
  [/(?<!\S)["'`(]*(?:(?:~|\.{1,2})?\/|[A-Za-z]:[\\/])[\w.@~-]+(?:[\\/][\w.@~-]+)*/gu, ['file']],
  [
    /(?<![\p{L}\p{N}_/@.-])[\w-]+\.(?:[jt]sx?|json|ya?ml|toml|md|txt|csv|tsv|pdf|docx?|xlsx?|pptx?|py|rb|go|rs|java|html?|css|sql|sh|xml|log|png|jpe?g|gif|svg|zip)(?![\p{L}\p{N}_-])/giu,
    ['file'],
  ],
]

/** At most this many values are looked at. */
const MOST_VALUES = 16

/**
 * Finds out what the values in a request are: `#general` is a channel, `ABC-123` an issue, `/tmp/a.txt` a file. Kinds that the
 * request says in a word are left out.
 */
export function findValueKinds(request: string): readonly ValueKind[] {
  const said = new Set(getWords(request).map(getStem))
  const found: ValueKind[] = []
  const covered: (readonly [from: number, to: number])[] = []
  for (const [pattern, kinds] of PATTERNS) {
    for (const match of request.matchAll(pattern)) {
      if (covered.length === MOST_VALUES) return found
      const [value] = match
      const to = match.index + value.length
      if (NORMS.test(value) || covered.some(([from, end]) => match.index < end && from < to)) continue
      covered.push([match.index, to])
      for (const kind of kinds) {
        if (said.has(getStem(kind))) continue
        said.add(getStem(kind))
        found.push({ value, kind })
      }
    }
  }
  return found
}
