import type { ListedTool } from 'foldout/catalog'
import { READ_RESULT, readResultDefinition } from 'foldout/results'

export { READ_RESULT }

/** The tool that models read folded results with, as the gateway lists it. */
export const LISTING: ListedTool = {
  ...readResultDefinition,
  annotations: { readOnlyHint: true, openWorldHint: false },
  meta: { 'anthropic/alwaysLoad': true },
}
