// A folder of skills in a prompt: the model sees what each skill is for, reads the one it needs, and then one of its files.
// The skill names a tool, which comes with it.
import assert from 'node:assert/strict'
import { definePrompt, defineSection, defineTool, ok, runAgent } from 'foldout'
import { createMemoryFilesystem } from 'foldout/files'
import { skillSections } from 'foldout/skills'
import { calls, says, scriptedAdapter } from 'foldout/testing'

// `createHostFilesystem` from foldout/node reads such a folder from disk.
const files = createMemoryFilesystem({
  'skills/release-notes/SKILL.md': `---
name: release-notes
description: Write release notes from merged changes. Use when somebody asks for a changelog.
metadata:
  io.modelcontextprotocol/tools: list_changes
---
1. Group the changes by what they mean for users, not by component.
2. Write a line for each, in the form that template.md shows.
3. Leave out what users cannot notice.
`,
  'skills/release-notes/template.md': '- **Search** finds tools in other words (#41)',
  'skills/incident-report/SKILL.md': `---
name: incident-report
description: Write up an outage. Use after an incident is over.
---
Say what users saw, from when to when, why, and what will keep it from happening again. Blame nobody.
`,
})

const task = defineSection({ key: 'task', title: 'Task', template: 'Help the team of ${product} to write.' })
const listChanges = defineTool({
  name: 'list_changes',
  description: 'List the merged changes.',
  execute: () => ok('#50 loads skills'),
})
const sections = [task, ...(await skillSections(files, { folder: 'skills', tools: [listChanges] }))] as const
const bound = definePrompt({ ns: 'agents', key: 'writer', sections }).bind({ product: 'Foldout' })

const first = bound.render()
console.log(`━━ What the model sees first ━━\n\n${first.text}\n`)
assert(first.text.includes('Use when somebody asks for a changelog.'))
assert(!first.text.includes('Group the changes'))

const adapter = scriptedAdapter([
  calls('read_section', { section_key: 'release-notes' }),
  calls('read_section', { section_key: 'template.md' }),
  calls('list_changes'),
  says('- **Skills** load from a folder (#50)'),
])
const { messages } = await runAgent(bound, { adapter, input: 'Write the release notes: #50 loads skills.' })
const read = messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))
console.log('━━ What it reads ━━')
for (const text of read) console.log(`\n${text.replaceAll(/^/gm, '  ')}`)
adapter.assertDone()
assert(read[0]!.includes('Group the changes by what they mean for users'))
assert(read[0]!.endsWith('Callable now: list_changes.'))
assert(read[1]!.includes('**Search** finds tools'))
assert.equal(read[2], '#50 loads skills')
assert(
  !messages.some((message) => 'text' in message && message.text.includes('Blame nobody')),
  'no need to read the other',
)
