import { join } from 'node:path'
import { definePrompt, defineSection, defineTool, ok, runAgent } from 'foldout'
import { createFileRecorder } from 'foldout/node'
import { calls, says, scriptedAdapter } from 'foldout/testing'
import { createTemporaryFolder } from '../../temporary-folder.ts'

const folder = createTemporaryFolder('foldout-docs-')
export const file = join(folder, 'runs.jsonl')

const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refunds an order.',
  execute: () => ok('Refunded.'),
})
export const bound = definePrompt({
  ns: 'docs',
  key: 'support',
  sections: [
    defineSection({ key: 'intro', title: 'Intro', template: 'You answer customers.' }),
    defineSection({
      key: 'refunds',
      title: 'Refunds',
      template: 'Refunds take three days.',
      summary: 'How refunds work.',
      visibility: 'summary',
      tools: [refundOrder],
    }),
  ],
}).bind()

const script = [calls('read_section', { section_key: 'refunds' }), calls('refund_order'), says('Done.')]
const createAdapter = () => scriptedAdapter(script)
/** Two snippets run it. */
export const adapter = scriptedAdapter([...script, ...script])

/** A file with three recorded runs. */
export const runs = join(folder, 'recorded.jsonl')
for (let run = 0; run < 3; run++) {
  const recorder = createFileRecorder(runs, { prompt: bound })
  await runAgent(bound, { adapter: createAdapter(), input: 'Refund order 17.', onEvent: recorder.onEvent })
  await recorder.saved()
}
