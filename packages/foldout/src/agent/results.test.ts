import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { chatAdapter, NO_USAGE, type ChatReply } from '../entries/adapter.ts'
import {
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  md,
  ok,
  runAgent,
  streamAgent,
  type AgentEvent,
  type ProviderAdapter,
} from '../entries/index.ts'
import type { Event } from '../session/event.ts'
import { scriptedAdapter, says } from '../testing/scripted-adapter.ts'

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  params: z.object({ at: z.string() }),
  execute: ({ at }) => ok(`Saw ${at}.`),
})
const sections = [
  defineSection({
    key: 'role',
    title: 'Role',
    template: md`
Look around.
    `,
    tools: [look],
  }),
]
const plain = definePrompt({ ns: 'test', key: 'plain', sections }).bind()
const city = z.object({ city: z.string(), days: z.array(z.number()) })
const structured = definePrompt({ ns: 'test', key: 'structured', sections, output: city }).bind()
const ANSWER = '{"city": "Oslo", "days": [1, 2]}'

type Part = Partial<ChatReply['message']>

/** A model that gives replies one after another, each streamed in pieces of a few characters. */
function replying(...replies: readonly Part[]): ProviderAdapter & { readonly requests: unknown[] } {
  const requests: unknown[] = []
  const adapter = chatAdapter({
    name: 'test',
    model: 'test',
    async complete({ messages, emit }) {
      const part = replies[requests.length] ?? {}
      requests.push(structuredClone(messages))
      const message = { role: 'assistant' as const, text: '', toolCalls: [], ...part }
      for (let at = 0; at < message.text.length; at += 5)
        emit({ type: 'text/delta', text: message.text.slice(at, at + 5) })
      return { message, usage: NO_USAGE }
    },
  })
  return { ...adapter, requests }
}

const cutCall = { id: 'a', name: 'look', malformed: '{"at": "the', isCutOff: true as const }

describe('the result of a run', () => {
  it('is a union: a completed result has the output, and a stopped one the reason', async () => {
    const result = await runAgent(structured, { adapter: scriptedAdapter([says(ANSWER)]), input: 'Go.' })
    if (result.status === 'completed') expectTypeOf(result.output).toEqualTypeOf<{ city: string; days: number[] }>()
    else expectTypeOf(result.output).toEqualTypeOf<undefined>()
    if (result.status === 'stopped')
      expectTypeOf(result.reason).toEqualTypeOf<'max-turns' | 'stop-when' | 'cut-off' | 'filtered'>()
    expect(result).toMatchObject({ status: 'completed', reason: undefined, output: { city: 'Oslo', days: [1, 2] } })
  })

  it.each(['cut-off', 'filtered'] as const)('R39 says that an answer was %s, also after a resume', async (cut) => {
    const session = createSession()
    const adapter = replying({ text: 'It is on its', cut }, { text: 'way.' })
    const events: AgentEvent[] = []
    const onEvent = (event: AgentEvent): void => void events.push(event)
    const result = await runAgent(plain, { adapter, session, input: 'Go.', onEvent })
    expect(result).toMatchObject({ status: 'stopped', reason: cut, text: 'It is on its', output: undefined })
    expect(events.at(-1)).toMatchObject({ type: 'run/finished', status: 'stopped', reason: cut })
    expect(await runAgent(plain, { adapter, session })).toMatchObject({ status: 'stopped', reason: cut })
    expect(adapter.requests).toHaveLength(1)
    expect(await runAgent(plain, { adapter, session, input: 'Go on.' })).toMatchObject({ text: 'way.' })
  })

  it('R17 asks for a shorter answer if one was cut off, and stops if that does not help', async () => {
    const cut = { text: ANSWER.slice(0, 20), cut: 'cut-off' as const }
    const adapter = replying(cut, { text: ANSWER })
    expect(await runAgent(structured, { adapter, input: 'Go.' })).toMatchObject({ output: { city: 'Oslo' } })
    expect(adapter.requests[1]).toMatchObject({
      2: {
        role: 'user',
        text: 'The answer was cut off because it reached the output limit. Send the whole JSON again, and write less.',
      },
    })
    const result = await runAgent(structured, { adapter: replying(cut, cut, cut, cut), input: 'Go.' })
    expect(result).toMatchObject({ status: 'stopped', reason: 'cut-off' })
  })

  it('R17 takes a whole answer from a reply that was cut off after it, and never asks again for a filtered one', async () => {
    const long = replying({ text: `${ANSWER} And furtherm`, cut: 'cut-off' })
    expect(await runAgent(structured, { adapter: long, input: 'Go.' })).toMatchObject({ status: 'completed' })
    const filtered = replying({ text: '{"city": "', cut: 'filtered' }, { text: ANSWER })
    expect(await runAgent(structured, { adapter: filtered, input: 'Go.' })).toMatchObject({ reason: 'filtered' })
    expect(filtered.requests).toHaveLength(1)
  })

  it('R37 stops after three replies in a row whose calls were cut off, and tells the model to write less', async () => {
    const adapter = replying(...Array.from({ length: 10 }, (_, at) => ({ toolCalls: [{ ...cutCall, id: `a${at}` }] })))
    const result = await runAgent(plain, { adapter, input: 'Go.' })
    expect(result).toMatchObject({ status: 'stopped', reason: 'cut-off' })
    expect(adapter.requests).toHaveLength(3)
    expect(result.messages.at(-1)).toMatchObject({
      isError: true,
      text: 'Not run: the arguments of this call were cut off because your reply reached the output limit. Write less, for example in several smaller calls.',
    })
    const whole = { toolCalls: [{ id: 'b', name: 'look', arguments: { at: 'it' } }] }
    const saved = replying(
      { toolCalls: [cutCall] },
      { toolCalls: [cutCall] },
      whole,
      { toolCalls: [cutCall] },
      { text: 'x' },
    )
    expect(await runAgent(plain, { adapter: saved, input: 'Go.' })).toMatchObject({ status: 'completed', text: 'x' })
  })
})

describe('R37 a call under a name that no tool can have', () => {
  it.each(['functions.look', 'look ', 'look(at="it")'])('%j is answered with the name that was meant', async (name) => {
    const call = { id: 'a', name, arguments: { at: 'it' } }
    const adapter = replying({ toolCalls: [call] }, { text: 'Sorry.' })
    const { messages } = await runAgent(plain, { adapter, input: 'Go.' })
    expect(messages[2]).toMatchObject({ text: `There is no tool '${name}'. Did you mean look?`, isError: true })
    expect(messages[1]).toMatchObject({
      toolCalls: [{ name: expect.stringMatching(/^[\w-]{1,64}$/), writtenName: name }],
    })
  })

  it('never runs the tool whose name it becomes, nor opens a section', async () => {
    const tool = defineTool({ name: 'pay_now', description: 'Pays.', execute: () => expect.fail('It ran.') })
    const folded = {
      title: 'Vault',
      template: md`
Gold.
      `,
      summary: md`
Closed.
      `,
      visibility: 'summary' as const,
    }
    const bound = definePrompt({
      ns: 'test',
      key: 'pay',
      sections: [
        defineSection({
          key: 'a',
          title: 'A',
          template: md`
A
          `,
          tools: [tool],
        }),
        defineSection({ key: 'vault', ...folded }),
      ],
    }).bind()
    const toolCalls = [
      { id: 'a', name: 'pay.now', arguments: {} },
      { id: 'b', name: 'read.section', arguments: { section_key: 'vault' } },
    ]
    const { messages } = await runAgent(bound, { adapter: replying({ toolCalls }, { text: 'x' }), input: 'Go.' })
    expect(messages.slice(2, 4)).toMatchObject([{ isError: true }, { isError: true }])
  })
})

describe('the stream of a run', () => {
  it('R40 keeps the texts of different replies apart', async () => {
    const adapter = replying(
      { text: 'Let me see.', toolCalls: [{ id: 'a', name: 'look', arguments: { at: 'it' } }] },
      { text: '{"city": "Os' },
      { text: ANSWER },
    )
    const texts = new Map<number, string>()
    for await (const event of streamAgent(structured, { adapter, input: 'Go.' }))
      if (event.type === 'text/delta') texts.set(event.reply, (texts.get(event.reply) ?? '') + event.text)
    expect([...texts]).toEqual([
      [1, 'Let me see.'],
      [2, '{"city": "Os'],
      [3, ANSWER],
    ])
  })

  it('R40 shows the output while it is written, and begins again with a repair', async () => {
    const adapter = replying({ text: 'Here: {"city": 5}' }, { text: ANSWER })
    const partial: unknown[] = []
    for await (const event of streamAgent(structured, { adapter, input: 'Go.' })) {
      if (event.type !== 'output/partial') continue
      expectTypeOf(event.value.days).toEqualTypeOf<readonly number[] | undefined>()
      partial.push([event.reply, event.value])
    }
    expect(partial).toEqual([
      [1, {}],
      [1, { city: 5 }],
      [2, {}],
      [2, { city: '' }],
      [2, { city: 'Oslo' }],
      [2, { city: 'Oslo', days: [1] }],
      [2, { city: 'Oslo', days: [1, 2] }],
    ])
  })

  it('R40 no listener can change the run by changing an event', async () => {
    const edit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      for (const key of Object.keys(value)) {
        edit((value as Record<string, unknown>)[key])
        try {
          ;(value as Record<string, unknown>)[key] = 'changed'
        } catch {
          // Frozen.
        }
      }
    }
    const toolCalls = [{ id: 'a', name: 'look', arguments: { at: 'it' } }]
    const run = async (onEvent: (event: AgentEvent) => unknown, onSessionEvent: (event: Event) => unknown) => {
      const session = createSession()
      session.subscribe(onSessionEvent)
      const told: AgentEvent[] = []
      const { messages, usage } = await runAgent(plain, {
        adapter: replying({ text: 'Hm.', toolCalls }, { text: 'Done.' }),
        session,
        input: 'Go.',
        onEvent(event) {
          onEvent(event)
          if (event.type === 'tool/invoked') told.push({ ...event, durationMs: 0 })
        },
      })
      return { messages, usage, told }
    }
    const nothing = (): void => undefined
    expect(await run(edit, edit)).toEqual(await run(nothing, nothing))
  })

  it("R35 an adapter's own objects are not frozen", async () => {
    const usage = { ...NO_USAGE }
    const adapter: ProviderAdapter = {
      name: 'own',
      model: 'own',
      supportsDynamicTools: true,
      async evaluate({ record, emit }) {
        const tools: string[] = []
        emit({ type: 'request/sent', messages: 1, tools })
        tools.push('more')
        emit({ type: 'reply/lost', usage })
        usage.inputTokens += 5
        await record({ role: 'assistant', text: 'Done.', toolCalls: [] })
        return { type: 'final', text: 'Done.', usage }
      },
    }
    expect(await runAgent(plain, { adapter, input: 'Go.' })).toMatchObject({ text: 'Done.', usage: { inputTokens: 5 } })
  })
})
