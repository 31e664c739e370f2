import { expect, it } from 'vitest'
import { createRecorder } from '../../../entries/telemetry.ts'
import { createDesk } from '../../../testing/hosts/host-prompt.ts'
import { createHost, type HostCall, type HostResult } from '../../../entries/disclosure.ts'
import type { Event } from '../../../entries/session.ts'
import type { ApprovalNeed } from '../../../tools/tool.ts'
import {
  hostSuite,
  type HostAgent,
  type HostSetup,
  type HostTurn,
  type ScriptedReply,
} from '../../../entries/testing-suites.ts'

/** The state of a loop: plain JSON, as a host would keep it. */
interface LoopState {
  readonly events: readonly Event[]
  readonly messages: readonly LoopMessage[]
  /** A call that waits for a person. */
  readonly waiting?: HostCall & { readonly need: ApprovalNeed }
}
type LoopMessage =
  | { readonly role: 'user' | 'assistant'; readonly text: string }
  | { readonly role: 'tool'; readonly text: string; readonly hasImage: boolean }

/** The smallest loop: what "Bring your own loop" shows. */
function createLoop({ bound, options, model, saved }: HostSetup): HostAgent {
  const host = createHost(bound, options)
  let state: LoopState = (saved as LoopState | undefined) ?? { events: [], messages: [] }
  const say = (message: LoopMessage): void => void (state = { ...state, messages: [...state.messages, message] })
  const take = ({ text, images, events }: HostResult): void => {
    say({ role: 'tool', text, hasImage: images.length > 0 })
    state = { ...state, events: [...state.events, ...events] }
  }
  async function run(call: HostCall): Promise<boolean> {
    const now = host.at(state.events)
    if (call.name === 'look_up') {
      const text = `Found ${(call.arguments as { what: string }).what}.`
      host.report.called(call, { text, isError: false, durationMs: 0 })
      say({ role: 'tool', text, hasImage: false })
      return true
    }
    const need = await now.findApprovalNeed(call)
    if (need !== false) {
      host.report.asked(call, need)
      state = { ...state, waiting: { ...call, need } }
      return false
    }
    take(await now.call(call))
    return true
  }
  async function goOn(): Promise<HostTurn> {
    for (;;) {
      const now = host.at(state.events)
      const results = state.messages.filter(({ role }) => role === 'tool').map(({ text }) => text)
      const { messages, shown } = now.addAhead<LoopMessage>(state.messages, {
        getInput: ({ role, text }) => (role === 'user' ? text : undefined),
        create: (text) => ({ role: 'user', text }),
      })
      const prompt = now.getPrompt([...results, ...shown])
      const tools = ['look_up', ...now.tools.map(({ name }) => name)]
      host.report.sent({ prompt, messages: messages.length, tools })
      const inputs = messages.filter(({ role }) => role === 'user').map(({ text }) => text)
      const hasImage = state.messages.some((message) => 'hasImage' in message && message.hasImage)
      const reply = model({ system: prompt.text, tools, inputs, results, hasImage })
      host.report.replied('text' in reply ? reply : { text: '', calls: reply.calls })
      if ('text' in reply) {
        say({ role: 'assistant', text: reply.text })
        host.report.finished('completed')
        return { text: reply.text, isWaiting: false }
      }
      for (const call of reply.calls) {
        if (await run(call)) continue
        host.report.finished('waiting')
        return { text: '', isWaiting: true }
      }
    }
  }
  return {
    async send(input) {
      say({ role: 'user', text: input })
      host.report.started({ input })
      const inputs = state.messages.filter(({ role }) => role === 'user').map(({ text }) => text)
      const { events } = await host.at(state.events).openAhead(inputs)
      state = { ...state, events: [...state.events, ...events] }
      return goOn()
    },
    async answer(isApproved) {
      const { waiting: call, ...rest } = state
      if (call === undefined) throw new Error('Nothing waits.')
      state = rest
      host.report.started({ isResumed: true })
      host.report.answered(call, isApproved)
      if (isApproved) take(await host.at(state.events).call(call, { isApproved, need: call.need }))
      else say({ role: 'tool', text: 'Not run: a person did not approve it.', hasImage: false })
      return goOn()
    },
    save: () => JSON.parse(JSON.stringify(state)) as unknown,
    clearResults() {
      const messages = state.messages.map((message) => ({
        ...message,
        ...(message.role === 'tool' && { text: '[cleared]' }),
      }))
      state = { ...state, messages }
    },
    summarize(text) {
      state = { ...state, messages: [{ role: 'user', text }] }
    },
  }
}

hostSuite('a loop of its own', { create: createLoop })

it('R73 a recorder has what a host reports as a run', async () => {
  const { bound } = createDesk()
  const recorder = createRecorder({ prompt: bound })
  const script: ScriptedReply[] = [
    { calls: [{ id: 'a', name: 'read_section', arguments: { section_key: 'refunds' } }] },
    { calls: [{ id: 'b', name: 'refund', arguments: {} }] },
  ]
  const model: HostSetup['model'] = () => script.shift() ?? { text: 'Done.' }
  await createLoop({ bound, options: { onEvent: recorder.onEvent }, model }).send('Money back.')
  const [run, ...others] = recorder.recording().runs
  expect(others).toEqual([])
  expect(run?.status).toBe('completed')
  expect(run?.openings.map(({ keys }) => keys)).toEqual([['refunds']])
  const called = run?.toolCalls.map(({ name, ok, isDisclosure }) => [name, ok, isDisclosure])
  expect(called).toEqual([
    ['read_section', true, true],
    ['refund', true, false],
  ])
  expect(run?.requests).toHaveLength(3)
})
