import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTemporaryFolder } from '../../temporary-folder.ts'

export const skillFolder = createTemporaryFolder('foldout-docs-')
mkdirSync(join(skillFolder, 'invoices'))
writeFileSync(
  join(skillFolder, 'invoices/SKILL.md'),
  '---\nname: invoices\ndescription: How to write one.\n---\nNumber them.\n',
)
