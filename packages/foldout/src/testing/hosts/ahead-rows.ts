import { expect, it } from 'vitest'
import type { HostCall } from '../../agent/hosts/core/contract.ts'
import type { HostRow, ScriptedReply, SeenRequest } from './host-driver.ts'
import { FIRST_TOOLS, type Stage, type StageOptions } from './host-prompt.ts'

interface Kit {
  readonly stage: (replies: readonly ScriptedReply[], options?: StageOptions) => Stage
  readonly call: (name: string, args?: object) => HostCall
  readonly getLists: (stage: Stage) => readonly (readonly string[])[]
  readonly isSkipped: (row: HostRow) => boolean
}

const done: ScriptedReply = { text: 'Done.' }
const says = (...calls: HostCall[]): ScriptedReply => ({ calls })

/** How often a request has the text of the refunds. */
const countTexts = (request: SeenRequest | undefined): number =>
  [request?.system, ...(request?.inputs ?? []), ...(request?.results ?? [])]
    .join('\n')
    .split('The whole text of refunds.').length - 1

/** The rows of the suite about sections that are opened before the first request for a message. */
export function describeAhead({ stage, call, getLists, isSkipped }: Kit): void {
  it('R84 what is opened ahead is in the first request, with its tools, and nothing is opened twice', async () => {
    const asked: string[] = []
    const open = (input: string): readonly string[] => {
      asked.push(input)
      return ['refunds']
    }
    const on = stage([says(call('refund', { order: 'A-17' })), done, says(call('refund'))], { options: { open } })
    const agent = await on.create()
    await agent.send('Money back for A-17.')
    await agent.send('Once more.')
    expect(asked).toEqual(['Money back for A-17.', 'Once more.'])
    expect(on.requests[0]?.system).toContain('The whole text of refunds.')
    expect(on.requests[0]?.tools).toContain('refund')
    expect(on.done).toEqual(['refund A-17', 'refund'])
    expect(on.requests.at(-1)?.system).toBe(on.requests[0]?.system)
    expect(on.requests.at(-1)?.tools).toEqual(on.requests[0]?.tools)
    expect(countTexts(on.requests.at(-1))).toBe(1)
    const opened = on.events.flatMap((event) => (event.type === 'sections/opened' ? [event] : []))
    expect(opened.map(({ keys, place }) => [keys, place])).toEqual([
      [['refunds'], 'system'],
      [[], 'message'],
    ])
  })

  it('R84 in a conversation that goes on, it is behind the message, and what came before keeps its bytes', async () => {
    const open = (input: string): readonly string[] => (input.includes('Money') ? ['refunds'] : [])
    const on = stage([done, says(call('refund')), done, done], { options: { open } })
    const agent = await on.create()
    for (const input of ['Hello.', 'Money back.', 'Thank you.']) await agent.send(input)
    expect(on.done).toEqual(['refund'])
    expect(new Set(on.requests.map(({ system }) => system)).size).toBe(1)
    const inputs = on.requests.map((request) => request.inputs.join('\n'))
    for (const [at, text] of inputs.entries()) expect(text.startsWith(inputs[at - 1] ?? '')).toBe(true)
    expect(inputs[1]).toContain('Money back.')
    expect(inputs[1]).toContain('These sections of your instructions are open now:\n\n# refunds')
    expect(on.requests.map(countTexts)).toEqual([0, 1, 1, 1])
    const lists = getLists(on)
    expect(lists[0]).not.toContain('refund')
    for (const list of lists.slice(1)) expect(list).toEqual([...FIRST_TOOLS, 'refund'])
  })

  it.skipIf(isSkipped('restart'))(
    'R84 what was opened ahead survives another process and a rule that fails',
    async () => {
      let calls = 0
      const open = (): readonly string[] => {
        calls += 1
        if (calls > 2) throw new Error('No search.')
        return calls === 2 ? ['refunds'] : []
      }
      const on = stage([done, done, says(call('refund'))], { options: { open } })
      const agent = await on.create()
      await agent.send('One.')
      await agent.send('Two.')
      await (await on.create(await agent.save?.())).send('Three.')
      expect(on.requests[2]?.system).toBe(on.requests[1]?.system)
      expect(on.requests[2]?.tools).toEqual(on.requests[1]?.tools)
      expect(on.requests.map(countTexts)).toEqual([0, 1, 1, 1])
      expect(on.done).toEqual(['refund'])
    },
  )

  it.skipIf(isSkipped('summarizing'))(
    'R84 a summary of the conversation takes nothing away that was opened ahead',
    async () => {
      const open = (input: string): readonly string[] => (input === 'Two.' ? ['refunds'] : [])
      const on = stage([done, done, says(call('refund'))], { options: { open } })
      const agent = await on.create()
      await agent.send('One.')
      await agent.send('Two.')
      await agent.summarize?.('The user said two things.')
      await agent.send('Three.')
      expect(on.requests[2]?.system).toContain('The whole text of refunds.')
      expect(countTexts(on.requests[2])).toBe(1)
      expect(on.requests[2]?.tools).toEqual(on.requests[1]?.tools)
      expect(on.done).toEqual(['refund'])
    },
  )
}
