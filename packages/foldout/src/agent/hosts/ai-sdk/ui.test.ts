import { readUIMessageStream, type UIMessage } from 'ai'
import { describe, expect, it } from 'vitest'
import { chatAdapter } from '../../../entries/adapter.ts'
import { catalogSearch, toUIMessages, toUIMessageStream } from '../../../entries/ai-sdk.ts'
import { createCatalog } from '../../../entries/catalog.ts'
import { createSession, definePrompt, defineSection, defineTool, ok, streamAgent } from '../../../entries/index.ts'
import { calls, says, scriptedAdapter } from '../../../entries/testing.ts'

const pay = defineTool({ name: 'pay', description: 'Pays.', needsApproval: true, execute: () => ok('Paid.') })
const refund = defineTool({ name: 'refund', description: 'Pays back.', execute: () => ok('Refunded.') })
const secret = 'Never refund more than 900 euros.'
const bound = definePrompt({
  ns: 'test',
  key: 'ui',
  sections: [
    defineSection({
      key: 'refunds',
      title: 'Refunds',
      template: secret,
      summary: 'About refunds.',
      visibility: 'summary',
      tools: [refund, pay],
    }),
  ],
}).bind()

/** The last state of the message that a browser would show. */
async function show(session = createSession(), ...script: Parameters<typeof scriptedAdapter>[0]): Promise<UIMessage> {
  const events = streamAgent(bound, { adapter: scriptedAdapter(script), session, input: 'Money back.' })
  let last: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream: toUIMessageStream(events) })) last = message
  if (!last) throw new Error('Nothing was streamed.')
  return last
}

const opened = {
  type: 'dynamic-tool',
  toolName: 'read_section',
  state: 'output-available',
  input: { section_key: 'refunds' },
  output: 'Opened: refunds.',
}
const ran = { type: 'dynamic-tool', toolName: 'refund', state: 'output-available', input: {}, output: 'Refunded.' }

describe('the UIs of the AI SDK', () => {
  it('R73 show a run as it happens and as it is kept, with a notice in place of the folded text', async () => {
    const session = createSession()
    const script = [calls('read_section', { section_key: 'refunds' }), calls('refund'), says('Done.')]
    const streamed = await show(session, ...script)
    const parts = [{ type: 'step-start' }, opened, { type: 'step-start' }, ran, { type: 'step-start' }]
    expect(streamed.parts).toMatchObject([...parts, { type: 'text', text: 'Done.', state: 'done' }])
    const kept = toUIMessages(session, bound)
    expect(kept).toMatchObject([
      { role: 'user', parts: [{ type: 'text', text: 'Money back.' }] },
      { role: 'assistant', parts: [...parts, { type: 'text', text: 'Done.' }] },
    ])
    expect(JSON.stringify([streamed, kept])).not.toContain('900 euros')
  })

  it('R73 show a call that waits for a person, and a call that failed', async () => {
    const session = createSession()
    const script = [
      calls('read_section', { section_key: 'nothing' }),
      calls('read_section', { section_key: 'refunds' }),
    ]
    const streamed = await show(session, ...script, calls('pay'))
    expect(streamed.parts.at(-1)).toMatchObject({ toolName: 'pay', state: 'approval-requested' })
    expect(toUIMessages(session, bound).at(-1)?.parts.at(-1)).toMatchObject({ state: 'approval-requested' })
    expect(toUIMessages(session, bound)[1]?.parts[1]).toMatchObject({
      state: 'output-error',
      errorText: "Section 'nothing' does not exist in this prompt.",
    })
  })

  it('R73 do not learn why a run failed', async () => {
    const adapter = { ...scriptedAdapter([]), evaluate: () => Promise.reject(new Error('The key sk-1 is wrong.')) }
    const chunks: unknown[] = []
    for await (const chunk of toUIMessageStream(streamAgent(bound, { adapter, input: 'Go.' }))) chunks.push(chunk)
    expect(chunks).toContainEqual({ type: 'error', errorText: 'The run failed.' })
    expect(JSON.stringify(chunks)).not.toContain('sk-1')
  })
})

it('R39 R73 a browser that leaves while the model is silent cancels the run', async () => {
  let signal: AbortSignal | undefined
  const adapter = chatAdapter({
    name: 'silent',
    model: 'silent',
    complete: (request) => {
      signal = request.signal
      return new Promise(() => undefined)
    },
  })
  const stream = streamAgent(bound, { adapter, input: 'Go.' })
  const reader = toUIMessageStream(stream).getReader()
  await reader.read()
  void reader.read()
  await expect.poll(() => signal !== undefined).toBe(true)
  await reader.cancel()
  expect(signal?.aborted).toBe(true)
  await expect(stream.result).rejects.toMatchObject({ code: 'run-aborted' })
})

describe('catalogSearch', () => {
  it("R73 ranks the SDK's own tools, and returns none that it does not have", async () => {
    const search = catalogSearch(createCatalog([refund, pay]))
    expect((await search({ query: 'pays back', tools: [{ name: 'refund' }, { name: 'pay' }] }))[0]).toBe('refund')
    expect(await search({ query: 'pays back', tools: [{ name: 'other' }] })).toEqual([])
  })
})
