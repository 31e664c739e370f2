import { transform } from 'sucrase'
import { getErrorMessage } from '../../../../core/errors.ts'
import type { ProgramError } from '../contract/messages.ts'

export type Stripped = { readonly code: string } | { readonly error: ProgramError }

/** Turns TypeScript into JavaScript. Line numbers stay the same. */
export function stripTypes(source: string): Stripped {
  try {
    return { code: transform(source, { transforms: ['typescript'], disableESTransforms: true }).code }
  } catch (error) {
    return { error: toSyntaxError(error) }
  }
}

function toSyntaxError(error: unknown): ProgramError {
  // The parser is recursive.
  if (error instanceof RangeError) return { name: 'SyntaxError', message: 'The source is nested too deeply.' }
  const name = 'SyntaxError'
  const message = getErrorMessage(error).replace(/ \(\d+:\d+\)$/, '')
  const { line, column } = (error as { readonly loc?: { readonly line?: number; readonly column?: number } }).loc ?? {}
  return { name, message, ...(line !== undefined && { line }), ...(column !== undefined && { column }) }
}

const NOT_AVAILABLE: readonly (readonly [RegExp, string])[] = [
  [
    /^\s*import\b(?!\s*[(.])/,
    'import is not available. Everything that a program may call is already there, as globals.',
  ],
  [/^\s*export\b/, 'export is not available. Return the value instead.'],
]

/** Relates an error to the source as the model wrote it. `code` is the source without types, which ran. */
export function explainError(error: ProgramError, source: string, code: string): ProgramError {
  const { line, column, ...rest } = error
  if (line === undefined) return rest
  const written = getLines(source)
  if (line > written.length) {
    // Something is missing at the end, or the engine looked one token ahead.
    return { ...rest, line: written.length }
  }
  const text = written[line - 1] ?? ''
  const explained = NOT_AVAILABLE.find(([pattern]) => error.name === 'SyntaxError' && pattern.test(text))
  const message = explained?.[1] ?? error.message
  // If types were removed from the line, the column would be wrong.
  const isSame = column !== undefined && text === getLines(code)[line - 1]
  return { ...rest, message, line, ...(isSame && { column }) }
}

function getLines(text: string): readonly string[] {
  return text.split(/\r\n|[\n\r\u2028\u2029]/)
}
