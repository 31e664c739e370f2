import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export { adapter, bound } from './README.ts'
export const file = join(mkdtempSync(join(tmpdir(), 'foldout-docs-')), 'chats.db')
