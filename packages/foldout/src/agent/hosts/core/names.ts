import { FoldoutError } from '../../../core/errors.ts'

/** Throws if a tool of the host has the name of one of the prompt's. A model cannot tell them apart. */
export function checkNames(own: Iterable<string>, tools: readonly { readonly name: string }[]): void {
  const names = new Set(own)
  const taken = tools.find(({ name }) => names.has(name))
  if (!taken) return
  throw new FoldoutError(
    'tool-name-taken',
    `Both the prompt and the host have a tool '${taken.name}'. Rename one of them.`,
  )
}
