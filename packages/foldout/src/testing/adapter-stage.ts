import { expect, it } from 'vitest'
import type { AgentEvent } from '../agent/events.ts'
import type { AgentOptions, AgentResult } from '../agent/options.ts'
import { runAgent } from '../agent/loop/run-agent.ts'
import { createSession, type Session } from '../session/session.ts'
import type { AdapterCase, AdapterSuiteOptions, ModelPeer, ModelStep } from './adapter-peer.ts'
import { weatherPrompt, weatherPromptWithOutput } from './adapter-prompt.ts'

/** The setup of a case: an adapter, its provider, and functions to run a prompt on them. */
export interface Stage<Request> {
  readonly peer: ModelPeer<Request>
  readonly session: Session
  /** The events of all runs so far. */
  readonly events: readonly AgentEvent[]
  run(options?: Partial<AgentOptions>): Promise<AgentResult>
  /** Runs the prompt that has an output schema. */
  runForOutput(): Promise<AgentResult>
}

/** Runs one case, or shows why it is skipped. */
export type TestCase<Request> = (
  name: AdapterCase,
  title: string,
  script: readonly ModelStep[],
  work: (stage: Stage<Request>) => Promise<void>,
) => void

export function testCaseFor<Request>({ create, check, skips = {} }: AdapterSuiteOptions<Request>): TestCase<Request> {
  return (name, title, script, work) => {
    const reason = skips[name]
    const why = reason === undefined ? '' : `, skipped: ${reason}`
    it.skipIf(reason !== undefined)(`${title}${why}`, async ({ onTestFinished }) => {
      const peer = await create({ script })
      onTestFinished(() => peer.stop())
      await work(getStage(peer))
      const requests = peer.requests()
      expect(requests.length).toBeGreaterThan(0)
      for (const request of requests) check?.(request)
    })
  }
}

function getStage<Request>(peer: ModelPeer<Request>): Stage<Request> {
  const events: AgentEvent[] = []
  const session = createSession()
  const settings = (more: Partial<AgentOptions>): AgentOptions => ({
    adapter: peer.adapter,
    session,
    input: 'How is the weather?',
    onEvent: (event) => events.push(event),
    ...more,
  })
  return {
    peer,
    session,
    events,
    run: (more = {}) => runAgent(weatherPrompt, settings(more)),
    runForOutput: () => runAgent(weatherPromptWithOutput, settings({})),
  }
}

/** Long enough to be streamed in several parts, with characters that are easy to split incorrectly. */
export const LONG_TEXT =
  'Tomorrow there is sun in “Oslo” – 21 °C, light wind from the west,\nand 👩‍👩‍👧 everywhere outside.'

export const opens = (key: string): ModelStep => calls('read_section', { section_key: key })
export const calls = (name: string, args: unknown = {}): ModelStep => ({ calls: [{ name, arguments: args }] })
export const done: ModelStep = { says: 'Done.' }

export function deltas(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'text/delta' ? [event.text] : []))
}

export function retries(events: readonly AgentEvent[]): readonly AgentEvent[] {
  return events.filter(({ type }) => type === 'request/retried')
}

export type ToolText = readonly [name: string, text: string, isError: boolean]

export function toolTexts({ messages }: AgentResult): readonly ToolText[] {
  return messages.flatMap((message): readonly ToolText[] =>
    message.role === 'tool' ? [[message.name, message.text, message.isError]] : [],
  )
}

/** Returns the request with this index, counted from the end if negative. */
export function getRequest<Request>(peer: ModelPeer<Request>, index: number): Request {
  const request = peer.requests().at(index)
  if (request === undefined) throw new Error(`The provider received no request ${index}.`)
  return request
}

/** Returns the error that a promise rejects with. */
export function catchError(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => expect.unreachable('The run did not fail.'),
    (error: unknown) => error,
  )
}
