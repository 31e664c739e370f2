import { definePrompt, defineSection } from 'foldout'
import { createTemporaryFolder } from '../../temporary-folder.ts'

export const folder = createTemporaryFolder('foldout-docs-')
export const role = defineSection({ key: 'role', title: 'Role', template: 'You help customers of ${shop}.' })
export const prompt = definePrompt({ ns: 'desk', key: 'support', sections: [role] })
