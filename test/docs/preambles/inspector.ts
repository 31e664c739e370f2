import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { says, scriptedAdapter } from 'foldout/testing'

export { bound } from './telemetry.ts'

export const adapter = scriptedAdapter([says('Done.')])
export const input = 'Refund order 17.'
export const file = join(mkdtempSync(join(tmpdir(), 'foldout-docs-')), 'runs.jsonl')
