// The files that examples read, below the working folder.
import { mkdirSync, writeFileSync } from 'node:fs'
import { runAgent } from 'foldout'
import { compare } from 'foldout/compare'
import { createFileRecorder } from 'foldout/node'
import { says, scriptedAdapter } from 'foldout/testing'
import { adapter, bound, recording } from './examples.ts'

mkdirSync('skills/refunds', { recursive: true })
writeFileSync(
  'skills/refunds/SKILL.md',
  '---\nname: refunds\ndescription: How to refund an order.\n---\n\nAsk for the number of the order first.\n',
)
writeFileSync('cases.jsonl', '{"id":"refund","input":"Refund order 17.","includes":"Done"}\n')
writeFileSync('README.md', '# Notes\n')
writeFileSync('use.json', JSON.stringify({ version: 1, tools: [], clients: [] }))
writeFileSync('recording.json', JSON.stringify(recording))
writeFileSync('servers.json', JSON.stringify({ mcpServers: { files: { command: 'server-files' } } }))
const recorder = createFileRecorder('runs.jsonl', { prompt: bound })
await runAgent(bound, { adapter, onEvent: recorder.onEvent })
await recorder.saved()
await compare({
  cases: 'cases.jsonl',
  arms: { full: { prompt: bound, open: 'all' }, folded: { prompt: bound } },
  adapter: () => scriptedAdapter([says('Done.')]),
  save: 'compare.jsonl',
})
