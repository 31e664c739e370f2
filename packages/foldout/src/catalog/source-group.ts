import { shorten } from '../core/text.ts'
import { toVisibleText } from '../core/visible-text.ts'
import type { ToolGroup } from '../tools/tool.ts'
import type { Catalog } from './contract.ts'
import type { CatalogEntry } from './tool.ts'

/** Providers may show it with every tool that is found. */
const MAX_DESCRIPTION = 60

/** Describes the source of a tool in a few words; `undefined` if the tool has none. */
export function getSourceGroup(
  { sources }: Pick<Catalog, 'sources'>,
  { source }: Pick<CatalogEntry, 'source'>,
): ToolGroup | undefined {
  if (source === undefined) return undefined
  const about = shorten(sources.find(({ name }) => name === source)?.description?.trim() ?? '', MAX_DESCRIPTION)
  return { name: source, description: toVisibleText(about).replaceAll(/\s+/g, ' ').trim() || `Tools of ${source}.` }
}
