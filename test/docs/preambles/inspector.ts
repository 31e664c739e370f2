import { join } from 'node:path'
import { says, scriptedAdapter } from 'foldout/testing'
import { createTemporaryFolder } from '../../temporary-folder.ts'

export { bound } from './telemetry.ts'

export const adapter = scriptedAdapter([says('Done.')])
export const input = 'Refund order 17.'
export const file = join(createTemporaryFolder('foldout-docs-'), 'runs.jsonl')
