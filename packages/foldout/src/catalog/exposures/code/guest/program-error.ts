import type { ProgramError } from '../messages.ts'

const NOT_AVAILABLE: readonly (readonly [RegExp, string])[] = [
  [/^\s*import\b(?!\s*[(.])/, 'import is not available. What a program may call is there already, as globals.'],
  [/^\s*export\b/, 'export is not available. Return the value instead.'],
]

/** The error as it concerns the source that was written, of which `code` is what was run: the same without types. */
export function explainError(error: ProgramError, source: string, code: string): ProgramError {
  const { line, column, ...rest } = error
  if (line === undefined) return rest
  const written = getLines(source)
  if (line > written.length) {
    // Where something is missing at its end, or where the engine looks one token ahead.
    return { ...rest, line: written.length }
  }
  const text = written[line - 1]!
  const explained = NOT_AVAILABLE.find(([pattern]) => error.name === 'SyntaxError' && pattern.test(text))
  const message = explained?.[1] ?? error.message
  // Where types stood before it, a column is not the one that was written.
  const isSame = column !== undefined && text === getLines(code)[line - 1]
  return { ...rest, message, line, ...(isSame ? { column } : {}) }
}

function getLines(text: string): readonly string[] {
  return text.split(/\r\n|[\n\r\u2028\u2029]/)
}
