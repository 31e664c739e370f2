import { getErrorMessage, isInstance, PromptRenderError, PromptValidationError } from '../../core/errors.ts'
import { ignore, isThenable } from '../../core/promises.ts'
import { getKind, isPrintable } from '../../core/template.ts'
import { shorten } from '../../core/text.ts'
import { isVisibility } from '../../session/visibility.ts'
import type { Slot } from '../definition/registry.ts'

/** The functions of a section that a render calls. */
type SelectorName = 'enabled' | 'visibility' | 'render'

/** Calls a selector or a custom renderer. If it throws, the error names the section. */
export function callSelector(name: SelectorName, slot: Slot, select: () => unknown): unknown {
  let result: unknown
  try {
    result = select()
  } catch (error) {
    if (isInstance(error, PromptRenderError)) throw error
    throw new PromptRenderError(`Section '${slot.path}': its \`${name}\` threw: ${getErrorMessage(error)}`, {
      path: slot.path,
      cause: error,
    })
  }
  // A promise is rejected as a result; its own rejection must not crash the process.
  if (isThenable(result)) void ignore(result, 'the caller refuses promises')
  return result
}

export function wrongResult(name: SelectorName, slot: Slot, result: unknown, wanted: string): PromptRenderError {
  const advice = isThenable(result)
    ? ' Rendering is synchronous: load the data before rendering, and keep it in the session or bind it.'
    : ''
  return new PromptRenderError(
    `Section '${slot.path}': its \`${name}\` returned ${describeResult(result)}. It must return ${wanted}.${advice}`,
    { path: slot.path },
  )
}

/** Describes a value for a message. */
function describeResult(value: unknown): string {
  if (isThenable(value)) return 'a promise'
  if (typeof value === 'string') return `'${shorten(value)}'`
  try {
    if (value === undefined || isPrintable(value)) return String(value)
    return getKind(value)
  } catch {
    return 'something that cannot be shown'
  }
}

export function noSummary(path: string): PromptValidationError {
  return new PromptValidationError(
    `Section '${path}' cannot be folded, because it has no summary. Give it a \`summary\`.`,
    { path },
  )
}

/** Checks the visibility that is requested for a path, if any. */
export function checkAsked(path: string, asked: unknown, canFold: () => boolean): void {
  if (asked === undefined) return
  if (!isVisibility(asked)) {
    throw new PromptValidationError(
      `The visibility requested for section '${path}' is ${describeResult(asked)}. Use 'full' or 'summary'.`,
      { path },
    )
  }
  if (asked === 'summary' && !canFold()) throw noSummary(path)
}
