import { generateText, stepCountIs, type ModelMessage } from 'ai'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { answering, call, type Generated } from '../../../adapters/ai-sdk/model.fixtures.ts'
import { catalogSection, createCatalog, hybrid } from '../../../entries/catalog.ts'
import { createSession, definePrompt, defineTool, ok, type AnySection } from '../../../entries/index.ts'
import { show } from '../../run.fixtures.ts'
import { createDisclosure } from './disclosure.ts'

type Content = Generated['content'][number]

function createPay(done: unknown[]) {
  return defineTool({
    name: 'pay',
    description: 'Pays.',
    params: z.object({ amount: z.number() }),
    needsApproval: ({ amount }) => amount > 10,
    execute: ({ amount }, { callId, idempotencyKey }) => (
      done.push([amount, callId, idempotencyKey]),
      ok(`Paid ${amount}.`)
    ),
  })
}

const tip = defineTool({ name: 'tip', description: 'Tips.', execute: () => ok('Thanks.') })

async function answer(section: AnySection, content: readonly Content[], messages: ModelMessage[]) {
  const bound = definePrompt({ ns: 't', key: 't', sections: [section] }).bind()
  const disclosure = await createDisclosure({ prompt: bound, session: createSession() })
  const model = answering((_, { prompt }) => {
    const isFirst = prompt.every(({ role }) => role !== 'assistant')
    return isFirst ? [...content] : [{ type: 'text', text: 'Done.' }]
  })
  return generateText({ model, ...disclosure, messages, stopWhen: stepCountIs(5) })
}

describe.each([
  [
    'of a section',
    (done: unknown[]) => show('desk', createPay(done)),
    (args: object, id: string) => call('pay', args, id),
  ],
  [
    'of a catalog',
    (done: unknown[]) => catalogSection(createCatalog([createPay(done)]), { expose: hybrid() }),
    (args: object, id: string) => call('use_tool', { name: 'pay', arguments: args }, id),
  ],
] as const)("R66 a tool %s in the AI SDK's loop", (_, createSection, use) => {
  it('asks through the SDK, runs when approved there, and knows its call', async () => {
    const done: unknown[] = []
    const section = createSection(done)
    const content = [use({ amount: 5 }, 'few'), use({ amount: 50 }, 'many'), use({ amount: 'x' }, 'wrong')] as Content[]
    const messages: ModelMessage[] = [{ role: 'user', content: 'Go.' }]
    const paused = await answer(section, content, messages)
    const requests = paused.content.filter((part) => part.type === 'tool-approval-request')
    expect(requests.map(({ toolCall }) => toolCall.toolCallId)).toEqual(['many'])
    expect(done).toEqual([[5, 'few', 'few']])
    const approval = { type: 'tool-approval-response' as const, approvalId: requests[0]!.approvalId, approved: true }
    const ended = await answer(section, content, [
      ...messages,
      ...paused.response.messages,
      { role: 'tool', content: [approval] },
    ])
    expect(ended.text).toBe('Done.')
    expect(done).toEqual([
      [5, 'few', 'few'],
      [50, 'many', 'many'],
    ])
  })
})

describe('R73 the approvals of version 7', () => {
  it('say why, and ask about the calls that need it', async () => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      needsApproval: () => 'Money.',
      execute: () => ok('Paid.'),
    })
    const bound = definePrompt({ ns: 't', key: 't', sections: [show('desk', createPay([])), show('till', tip)] }).bind()
    const { toolApproval } = await createDisclosure({ prompt: bound, session: createSession() })
    expect(Object.keys(toolApproval)).toEqual(['pay'])
    expect(await toolApproval['pay']?.({ amount: 5 }, { toolCallId: 'a' })).toBeUndefined()
    expect(await toolApproval['pay']?.({ amount: 50 }, { toolCallId: 'a' })).toEqual({ type: 'user-approval' })
    const why = definePrompt({ ns: 't', key: 't', sections: [show('desk', pay)] }).bind()
    const { toolApproval: reasons } = await createDisclosure({ prompt: why, session: createSession() })
    const answer = await reasons['pay']?.({}, { toolCallId: 'a' })
    expect(answer).toEqual({ type: 'user-approval', reason: 'Money.' })
  })

  it('cannot be left out: a call that nobody has approved does not run', async () => {
    const done: unknown[] = []
    const bound = definePrompt({ ns: 't', key: 't', sections: [show('desk', createPay(done))] }).bind()
    const { tools, ...disclosure } = await createDisclosure({ prompt: bound, session: createSession() })
    const unasked = { pay: { ...tools['pay'], needsApproval: undefined } } as unknown as typeof tools
    const content = [call('pay', { amount: 50 }, 'many')] as Content[]
    const model = answering((_, { prompt }) =>
      prompt.every(({ role }) => role !== 'assistant') ? content : [{ type: 'text', text: 'Done.' }],
    )
    const { steps } = await generateText({
      model,
      ...disclosure,
      tools: unasked,
      prompt: 'Go.',
      stopWhen: stepCountIs(3),
    })
    expect(done).toEqual([])
    expect(JSON.stringify(steps.at(-1)?.request ?? steps)).not.toContain('Paid')
    const [part] = steps[0]?.content.filter(({ type }) => type === 'tool-error') ?? []
    expect(String(part && 'error' in part ? part.error : '')).toContain('was not run')
  })
})
