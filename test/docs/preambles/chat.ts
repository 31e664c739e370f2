import { join } from 'node:path'
import { createTemporaryFolder } from '../../temporary-folder.ts'

export { adapter, bound } from './README.ts'
export const file = join(createTemporaryFolder('foldout-docs-'), 'chats.db')
