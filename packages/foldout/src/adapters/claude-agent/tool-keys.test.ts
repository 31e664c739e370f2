import { describe, expect, it } from 'vitest'
import { claudeAgent } from '../../entries/claude-agent.ts'
import { ok } from '../../tools/result.ts'
import { defineTool } from '../../tools/tool.ts'
import { done, dynamic, fakeSdk, recorded, reply, text, use } from './fake-sdk.fixtures.ts'

const find = defineTool({
  name: 'find',
  description: 'Finds.',
  params: { type: 'object', properties: { $top: { type: 'integer' } } },
  execute: () => ok('unused'),
})

describe('names of params that Anthropic rejects', () => {
  it.each([
    ['together, by id', {}, '1'],
    ['together, by their arguments', {}, undefined],
    ['one by one', { canUseTool: async () => ({ behavior: 'allow' }) }, '1'],
  ])('go back to the tool as it knows them, if calls run %s', async (_, options, id) => {
    const sdk = fakeSdk([
      async function* ({ call }) {
        yield dynamic
        yield* reply([use('1', 'find', { _top: 3 })])
        await call('find', { _top: 3 }, id)
        yield* reply([text('Done.')])
        yield done('Done.')
      },
    ])
    const { evaluation, messages, turns } = recorded({ tools: [find] })
    await claudeAgent({ sdk, options }).evaluate(evaluation)
    expect(turns).toEqual([[{ id: '1', name: 'find', arguments: { $top: 3 } }]])
    expect(messages[0]).toMatchObject({ toolCalls: [{ arguments: { $top: 3 } }] })
  })
})
