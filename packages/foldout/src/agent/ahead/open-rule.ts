import { bySearch } from '../../disclosure/ahead/by-search.ts'
import type { OpenAhead } from '../../disclosure/ahead/rule.ts'
import type { PromptOverrides } from '../../prompt/overrides/overrides.ts'

interface OpeningOptions {
  readonly open?: OpenAhead | undefined
  readonly overrides?: PromptOverrides | undefined
}

/** Returns the rule that opens sections ahead: the caller's own, or that of the overrides. */
export function getOpenRule({ open, overrides }: OpeningOptions): OpenAhead | undefined {
  if (open !== undefined || !overrides?.ahead) return open
  return bySearch(overrides.ahead)
}
