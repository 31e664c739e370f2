import { getAncestors } from '../../core/text.ts'
import { OPEN_SECTIONS, READ_SECTION } from '../../disclosure/tools.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'

export interface OpeningCall {
  readonly name: string
  readonly arguments: unknown
}

/** How a model that follows the summaries' last lines asks for sections, or nothing if no tool for it is offered. */
export function openingCalls(
  keys: readonly string[],
  offered: ReadonlySet<string>,
  rendered: RenderedPrompt,
): readonly OpeningCall[] | undefined {
  const reads = offered.has(READ_SECTION)
  const opens = offered.has(OPEN_SECTIONS)
  if (!reads && !opens) return undefined
  const toOpen = keys.filter((key) => opens && (!reads || bearsTools(key, rendered)))
  const toRead = keys.filter((key) => !toOpen.includes(key))
  return [
    ...(toOpen.length > 0 ? [{ name: OPEN_SECTIONS, arguments: { section_keys: toOpen, reason: '' } }] : []),
    ...toRead.map((key) => ({ name: READ_SECTION, arguments: { section_key: key } })),
  ]
}

/** Whether the summary that stands for a section, its own or that of a section around it, stands for tools too. */
function bearsTools(key: string, { summarized, toolsInFolds }: RenderedPrompt): boolean {
  const shown = [...getAncestors(key), key].find((path) => summarized.includes(path)) ?? key
  return [...toolsInFolds.values()].some((path) => path === shown || path.startsWith(`${shown}.`))
}
