// Gives a model a picture and a file, and continues the conversation. Shows the arguments of a call while they are written.
import assert from 'node:assert/strict'
import { LLMock } from '@copilotkit/aimock'
import {
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  FoldoutError,
  ok,
  runAgent,
  streamAgent,
} from 'foldout'
import { anthropic } from 'foldout/anthropic'
import { openaiCompatible } from 'foldout/openai'

const expenses = definePrompt({
  ns: 'example',
  key: 'expenses',
  sections: [
    defineSection({
      key: 'task',
      title: 'Task',
      template: 'You file receipts as expenses.',
      tools: [
        defineTool({
          name: 'file_expense',
          description: 'Files an expense.',
          params: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
          execute: ({ amount }) => ok(`Filed ${String(amount)}.`),
        }),
      ],
    }),
  ],
}).bind()

// The model answers from a script, and its requests are checked.
const script = [
  { toolCalls: [{ name: 'file_expense', arguments: '{"amount":12.5}' }] },
  { content: 'Filed: 12.50 for lunch.' },
  { content: 'Yes, at Café Central.' },
]
const mock = new LLMock({ port: 0 })
let requests = 0
mock.on({}, () => script[requests++] ?? { content: 'Done.' })
await mock.start()

// One white pixel, and a nearly empty PDF.
const receipt = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4////fwAJ+wP9KobjigAAAABJRU5ErkJggg==',
  'base64',
)
const policy = new TextEncoder().encode('%PDF-1.4\n%%EOF')

const session = createSession()
const adapter = anthropic({ model: 'claude-opus-5-5', apiKey: 'none', baseURL: mock.url })
const stream = streamAgent(expenses, {
  adapter,
  session,
  input: [
    { type: 'text', text: 'File this receipt, as our policy says.' },
    { type: 'image', data: receipt },
    { type: 'file', data: policy, name: 'policy.pdf' },
  ],
})
let written = ''
for await (const event of stream) if (event.type === 'call/delta') written += event.text
assert.equal(written, '{"amount":12.5}')
assert.equal((await stream.result).text, 'Filed: 12.50 for lunch.')

// The picture is part of the conversation: the model can be asked about it later.
const { text, messages } = await runAgent(expenses, { adapter, session, input: 'Was it in Vienna?' })
assert.equal(text, 'Yes, at Café Central.')
const [first] = messages
assert(first?.role === 'user')
assert.deepEqual(
  first.parts?.map(({ type }) => type),
  ['text', 'image', 'file'],
)
console.log(text)

// Input that a model does not accept is refused before anything is sent.
const local = openaiCompatible({ model: 'a-text-model', baseURL: `${mock.url}/v1`, input: [] })
const refused = await runAgent(expenses, { adapter: local, input: [{ type: 'image', data: receipt }] }).catch(
  (error: unknown) => error,
)
assert(refused instanceof FoldoutError)
assert.equal(refused.code, 'input-unsupported')
assert.equal(requests, 3)
console.log(refused.message)
await mock.stop()
