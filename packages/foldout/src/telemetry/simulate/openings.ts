import type { OpeningCall } from '../../disclosure/strategy.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'

/** How a model that follows the summaries' last lines asks for sections, or nothing if no tool for it is offered. */
export function openingCalls(
  keys: readonly string[],
  offered: ReadonlySet<string>,
  { disclosure, view }: RenderedPrompt,
): readonly OpeningCall[] | undefined {
  const calls = disclosure.getCalls?.(view, keys) ?? []
  return calls.length > 0 && calls.every(({ name }) => offered.has(name)) ? calls : undefined
}
