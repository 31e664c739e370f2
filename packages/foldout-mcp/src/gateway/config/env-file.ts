import { parseEnv } from 'node:util'

/** Reads the variables of an `envFile`. Skips lines that set no variable, as other programs do. */
export function parseEnvFile(text: string): Readonly<Record<string, string>> {
  const variables = splitEntries(text).flatMap((entry) => Object.entries(parseEnv(entry)))
  return Object.fromEntries(variables.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}

/** The name of a variable, and the quote that its value begins with. */
const ENTRY = /^[ \t]*(?:export[ \t]+)?([^\s=#"'`]+)[ \t]*=[ \t]*(["'`]?)/

/**
 * The entries of the file, one by one for the parser of Node.js. In a whole file, that parser takes a line without `=` for the beginning
 * of the next name.
 */
function splitEntries(text: string): readonly string[] {
  const plain = text.replaceAll(/\r\n?/g, '\n')
  const lastQuotes = new Map(['"', "'", '`'].map((quote) => [quote, plain.lastIndexOf(quote)]))
  const entries: string[] = []
  for (let from = 0; from < plain.length;) {
    let end = findLineEnd(plain, from)
    const [start = '', name = '', quote = ''] = ENTRY.exec(plain.slice(from, end)) ?? []
    const inside = from + start.length
    // A value in quotes may have several lines. If nothing closes it, the quote is a character like any other.
    const isClosed = quote !== '' && inside <= (lastQuotes.get(quote) ?? -1)
    if (isClosed) end = findLineEnd(plain, plain.indexOf(quote, inside))
    if (name !== '') entries.push(`${name}=${plain.slice(inside - quote.length, end)}\n`)
    from = end + 1
  }
  return entries
}

function findLineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}
