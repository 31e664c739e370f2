import { nameSome, shorten } from '../core/text.ts'
import { toVisibleText } from '../core/visible-text.ts'
import type { CatalogEntry } from './tool.ts'

/**
 * A name that no tool has, or that several tools share.
 *
 * @example
 * ```ts
 * const found = catalog.resolve('send_email')
 * isUnknown(found) && found.near // => [ 'send_mail' ]
 * ```
 */
export interface UnknownTool {
  readonly unknown: string
  /** The most similar names, or all names that fit if the name is ambiguous. */
  readonly near: readonly string[]
  readonly isAmbiguous: boolean
}

/**
 * Whether `catalog.resolve()` found no tool.
 *
 * @example
 * const found = catalog.resolve('send_mail')
 * if (isUnknown(found)) console.log(`Did you mean ${found.near.join(' or ')}?`)
 */
export function isUnknown(found: CatalogEntry | UnknownTool): found is UnknownTool {
  return 'unknown' in found
}

/** How many of the tools that an ambiguous name could mean are listed. */
const NAMED_TOOLS = 10

/** Describes an unknown name to a model. `hint` says how to find the right one. */
export function describeUnknownTool({ unknown, near, isAmbiguous }: UnknownTool, hint = ''): string {
  const name = toVisibleText(shorten(unknown))
  if (isAmbiguous)
    return `More than one tool is called '${name}': ${nameSome(near, NAMED_TOOLS)}. Use one of these names.`
  const nearest = near.length > 0 ? ` Nearest: ${near.join(', ')}.` : ''
  return `Tool '${name}' not found.${hint && ` ${hint}`}${nearest}`
}
