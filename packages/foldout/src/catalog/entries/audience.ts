import { isObject } from 'foldout-shared/values'
import type { CatalogEntry } from '../tool.ts'

/**
 * Whether models may use a tool. A server may keep a tool for its own pages (MCP Apps), which call it by its name. Clients that show
 * pages get it in their lists, and hide it from the model.
 */
export function isForModels({ meta }: Pick<CatalogEntry, 'meta'>): boolean {
  const ui = meta?.['ui']
  const visibility = isObject(ui) ? ui['visibility'] : undefined
  return !Array.isArray(visibility) || visibility.length === 0 || visibility.includes('model')
}
