import type { RunSummary } from '../../../src/inspector/protocol/protocol.ts'
import { toLabel } from '../base/format.ts'

const LONGEST_TITLE = 120

/** What tells a run from the others of its prompt: the beginning of what the user said. */
export function getTitle({ input, prompt, id }: RunSummary): string {
  const [line = ''] = input.trim().split('\n')
  return toLabel(line || prompt || id, LONGEST_TITLE)
}
