import { describe, expect, it } from 'vitest'
import { definePrompt, defineSection, defineTool, ok, runAgent } from '../../entries/index.ts'
import { claudeAgent } from './claude-agent.ts'
import { done, dynamic, fakeSdk, reply, text, use, type Script } from './fake-sdk.fixtures.ts'

const ran: string[] = []
const tools = [
  defineTool({ name: 'look', description: 'Looks.', execute: () => (ran.push('look'), ok('Seen.')) }),
  defineTool({ name: 'pay', description: 'Pays.', needsApproval: true, execute: () => (ran.push('pay'), ok('Paid.')) }),
]
const bound = definePrompt({
  ns: 't',
  key: 't',
  sections: [defineSection({ key: 'a', title: 'A', template: 'A.', tools })],
}).bind()

const asking: Script = async function* ({ call }) {
  yield dynamic
  yield* reply([use('1', 'look', {}), use('2', 'pay', {}), use('3', 'Bash', {})])
  await Promise.all([call('look', {}, '1'), call('pay', {}, '2')])
  yield* reply([text('Done.')])
  yield done('Done.')
}

describe('R66 approval through the Claude Agent SDK', () => {
  it('ends the query, and continues in a new one', async () => {
    ran.length = 0
    const sdk = fakeSdk([
      asking,
      async function* () {
        yield dynamic
        yield* reply([text('Paid it.')])
        yield done('Paid it.')
      },
    ])
    const adapter = claudeAgent({ sdk })
    const paused = await runAgent(bound, { adapter, input: 'Go.' })
    expect(paused).toMatchObject({ status: 'waiting', approvals: [{ callId: '2', tool: 'pay' }] })
    expect(ran).toEqual(['look'])
    const state = JSON.parse(JSON.stringify(paused.state)) as typeof paused.state
    const approvals = paused.approvals.map((request) => ({ ...request, approved: true }))
    const ended = await runAgent(bound, { adapter, state, approvals })
    expect(ended).toMatchObject({ status: 'completed', text: 'Paid it.' })
    expect(ran).toEqual(['look', 'pay'])
    expect(
      ended.messages
        .flatMap((message) => (message.role === 'tool' ? [`${message.callId} ${message.text}`] : []))
        .toSorted(),
    ).toEqual(['1 Seen.', '2 Paid.', '3 This call was not run, because another call of the same reply ended the turn.'])
    expect(sdk.hosts[1]!.prompt).toContain('Paid.')
  })

  it('fails if the executable may reject calls itself', async () => {
    ran.length = 0
    const sdk = fakeSdk([asking])
    const adapter = claudeAgent({ sdk, options: { canUseTool: async () => ({ behavior: 'allow' }) } })
    const { status, messages } = await runAgent(bound, { adapter, input: 'Go.' })
    expect(status).toBe('completed')
    expect(ran).toEqual(['look'])
    expect(messages).toContainEqual({
      role: 'tool',
      callId: '2',
      name: 'pay',
      text: "Tool 'pay' was not run: a person has to approve it first, and this call cannot wait for that.",
      isError: true,
    })
  })
})
