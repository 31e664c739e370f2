import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { definePrompt, defineSection } from 'foldout'

export const folder = mkdtempSync(join(tmpdir(), 'foldout-docs-'))
export const role = defineSection({ key: 'role', title: 'Role', template: 'You help customers of ${shop}.' })
export const prompt = definePrompt({ ns: 'desk', key: 'support', sections: [role] })
