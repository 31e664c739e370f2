import {
  createSession,
  definePrompt,
  defineSection,
  defineSlice,
  defineTool,
  ok,
  runAgent,
  type AgentEvent,
  type AgentOptions,
  type AnySection,
  type AnyTool,
} from '../entries/index.ts'
import { countedAdapter as scriptedAdapter } from '../testing/counted.fixtures.ts'
import type { ScriptStep, ScriptedOptions } from '../testing/scripted-adapter.ts'

export const flag = defineSlice({
  name: 'flag',
  initial: false,
  reducers: { raised: () => true, lowered: () => false },
})

/** A tool that answers that it was called. */
export function named(name: string): AnyTool {
  return defineTool({ name, description: `Does ${name}.`, execute: () => ok(`${name} done.`) })
}

/** A folded section with tools. */
export function fold(key: string, ...tools: AnyTool[]): AnySection {
  return defineSection({
    key,
    title: `The ${key}`,
    template: `All of ${key}.`,
    summary: `Some of ${key}.`,
    visibility: 'summary',
    tools,
  })
}

/** An open section with tools. */
export function show(key: string, ...tools: AnyTool[]): AnySection {
  return defineSection({ key, title: `The ${key}`, template: `All of ${key}.`, tools })
}

export interface Setup extends Partial<AgentOptions> {
  readonly sections: readonly AnySection[]
  readonly scripted?: ScriptedOptions
}

/** Prepares a run of a script on some sections, and records its events. */
export function prepare(script: readonly ScriptStep[], { sections, scripted, ...options }: Setup) {
  const bound = definePrompt({ ns: 'test', key: 'run', sections: [...sections] }).bind()
  const session = options.session ?? createSession({ slices: [flag] })
  const adapter = scriptedAdapter(script, scripted)
  const events: AgentEvent[] = []
  const run = () =>
    runAgent(bound, { adapter, session, input: 'Go.', onEvent: (event) => events.push(event), ...options })
  const getResults = () =>
    (adapter.requests.at(-1)?.messages ?? []).flatMap((message) => (message.role === 'tool' ? [message.text] : []))
  return { bound, session, adapter, events, run, getResults }
}

/** Returns the reason of a rejected promise. */
export async function getError(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('It was not rejected.')
    },
    (error: unknown) => error,
  )
}
