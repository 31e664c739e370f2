import { getErrorMessage } from '../../../../core/errors.ts'
import { importPeer } from '../../../../core/peer.ts'
import type { ProgramError } from '../messages.ts'

export type Stripped = { readonly code: string } | { readonly error: ProgramError }

/** Turns TypeScript into JavaScript. Line numbers stay the same. */
export type StripTypes = (source: string) => Stripped

export async function loadStripTypes(): Promise<StripTypes> {
  const { transform } = await importPeer('sucrase', () => import('sucrase'))
  return (source) => {
    try {
      return { code: transform(source, { transforms: ['typescript'], disableESTransforms: true }).code }
    } catch (error) {
      return { error: toSyntaxError(error) }
    }
  }
}

function toSyntaxError(error: unknown): ProgramError {
  // The parser is recursive.
  if (error instanceof RangeError) return { name: 'SyntaxError', message: 'The source is nested too deeply.' }
  const name = 'SyntaxError'
  const message = getErrorMessage(error).replace(/ \(\d+:\d+\)$/, '')
  const { line, column } = (error as { readonly loc?: { readonly line?: number; readonly column?: number } }).loc ?? {}
  return { name, message, ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) }
}
