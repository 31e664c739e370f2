import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineTool, ok } from 'foldout'
import { createCatalog } from 'foldout/catalog'
import { createMemoryFilesystem } from 'foldout/files'
import type { McpClient } from 'foldout/mcp'
import { createTemporaryFolder } from '../../temporary-folder.ts'

export const skillFolder = createTemporaryFolder('foldout-docs-')
mkdirSync(join(skillFolder, 'invoices'))
writeFileSync(
  join(skillFolder, 'invoices/SKILL.md'),
  '---\nname: invoices\ndescription: How to write one.\n---\nNumber them.\n',
)

export const catalog = createCatalog([])
export const refund = defineTool({ name: 'refund', description: 'Refund an order.', execute: () => ok('Refunded.') })
export const files = createMemoryFilesystem({
  'HANDBOOK.md': `# Desk\n\nAnswer customers.\n\n## Refunds\n\nWithin 30 days.\n\n## Opening hours\n\nAlways.\n`,
})
export declare const client: McpClient
