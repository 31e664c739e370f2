import { expect, it } from 'vitest'
import {
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  runAgent,
  type AgentEvent,
} from '../entries/index.ts'
import { createRecorder } from '../entries/telemetry.ts'
import { calls, says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import * as z from 'zod'

const look = defineTool({
  name: 'look',
  description: 'Looks around.',
  params: z.object({}),
  execute: () => ok('A room. '.repeat(300)),
})
const guide = defineSection({
  key: 'guide',
  title: 'Guide',
  template: 'What to do. '.repeat(400),
  summary: 'What to do.',
  visibility: 'summary',
  tools: [look],
})
const bound = definePrompt({ ns: 'docs', key: 'chat', sections: [guide] }).bind()
type Sent = Extract<AgentEvent, { type: 'request/sent' }>

it('R78 a run that goes on with a chat is recorded with all of it, and with the text that was sent', async () => {
  const session = createSession()
  const scripts = [
    [calls('read_section', { section_key: 'guide' }), calls('look'), says('Seen.')],
    [says('Still there.')],
    [calls('look'), says('Bye.')],
  ]
  const systems: string[] = []
  const rendered: string[] = []
  const sent: (readonly Sent[])[] = []
  const recorded = []
  for (const script of scripts) {
    const adapter = scriptedAdapter(script)
    const recorder = createRecorder({ prompt: bound })
    const requests: Sent[] = []
    await runAgent(bound, {
      adapter,
      session,
      input: 'Go on, please.',
      onEvent(event) {
        recorder.onEvent(event)
        if (event.type === 'request/sent') requests.push(event)
        if (event.type === 'prompt/rendered') rendered.push(event.text)
      },
    })
    systems.push(...adapter.requests.map(({ system }) => system))
    sent.push(requests)
    recorded.push(recorder.recording().runs[0])
  }
  expect(new Set(systems).size).toBe(1)
  expect(new Set(rendered)).toEqual(new Set(systems))
  const first = recorded.map((run) => run?.requests[0])
  expect(first[1]?.systemTokens).toBe(first[0]?.systemTokens)
  // The section has 1,200 words and the result 600, and both are in the conversation.
  expect(first[0]?.conversationTokens).toBeLessThan(50)
  expect(first[1]?.conversationTokens).toBeGreaterThan(1800)
  expect(first[2]?.conversationTokens).toBeGreaterThan(first[1]?.conversationTokens ?? Infinity)
  for (const run of recorded)
    for (const { systemTokens, toolTokens, conversationTokens, usage } of run?.requests ?? []) {
      const counted = systemTokens + toolTokens + conversationTokens
      expect(counted / (usage?.inputTokens ?? 0)).toBeGreaterThan(0.8)
      expect(counted / (usage?.inputTokens ?? 0)).toBeLessThan(1.2)
    }
  const [start, opened, looked] = sent[0] ?? []
  expect(start?.context).toMatchObject({ sections: 0, results: 0 })
  expect(opened?.context?.sections).toBeGreaterThan(1200)
  expect(opened?.context?.results).toBe(0)
  expect(looked?.context?.sections).toBe(opened?.context?.sections)
  expect(looked?.context?.results).toBeGreaterThan(600)
  expect(opened?.context?.tools).toBeGreaterThan(start?.context?.tools ?? Infinity)
})
