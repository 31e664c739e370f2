import { toSentTool } from '../../../adapters/tool-keys.ts'
import { toToolParameters } from '../../../adapters/tool-schemas.ts'
import type { JsonSchema } from '../../../core/schema/schema.ts'
import { createJournaledSession, type Session } from '../../../session/session.ts'
import { isObject } from 'foldout-shared/values'
import type { BoundPrompt } from '../../../prompt/prompt.ts'
import type { Event } from '../../../session/event.ts'
import type { AnySlice } from '../../../session/slice.ts'
import type { AnyTool } from '../../../tools/tool.ts'
import { getOpenRule } from '../../ahead/open-rule.ts'
import { checkOpen } from '../../loop/bounds.ts'
import { checkDelegates } from '../../delegate-models.ts'
import type { Host, HostOptions, HostState, HostTool } from './contract.ts'
import { createReport } from './report.ts'
import { createView } from './view.ts'

/**
 * Puts a prompt into a loop that is not Foldout's: the text for what is open, the tools in opening order, and the calls
 * of the model. The host keeps the events that calls return, wherever it keeps its own state, and passes them back.
 *
 * @example
 * ```ts
 * const desk = createHost(bound)
 * const call = { id: 'call_1', name: 'read_section', arguments: { section_key: 'refunds' } }
 * const { events } = await desk.at([]).call(call)
 * desk.at(events).tools.map(({ name }) => name) // => [ 'look', 'read_section', 'refund_order' ]
 * ```
 */
export function createHost(bound: Pick<BoundPrompt, 'prompt' | 'render'>, options: HostOptions = {}): Host {
  const { slices = [], filesystem, onEvent, adapter, delegates, open: asked, ...others } = options
  checkOpen(asked)
  const open = getOpenRule(options)
  checkDelegates(delegates)
  const render = { ...others, delegation: adapter !== undefined || delegates !== undefined }
  const report = createReport(onEvent)
  return {
    report,
    at: (state) =>
      createView({ bound, render, filesystem, report, adapter, delegates, open, session: toSession(state, slices) }),
  }
}

function toSession(state: HostState, slices: readonly AnySlice[]): Session {
  if (state !== undefined && !Array.isArray(state)) return state as Session
  const { session, replay } = createJournaledSession({ slices })
  // The state may come from an older version of the program, or from somebody else.
  for (const event of (state ?? []) as readonly unknown[]) if (isEvent(event)) replay(event, 'all')
  return session
}

function isEvent(event: unknown): event is Event {
  return isObject(event) && typeof event['type'] === 'string'
}

/**
 * Converts a tool to the form that most hosts accept. Its schema is a copy, because some hosts write into schemas.
 *
 * @example
 * ```ts
 * const { name, inputSchema } = toHostTool(refund)
 * Object.isFrozen(inputSchema) // => false
 * ```
 */
export function toHostTool(tool: AnyTool): HostTool {
  const { name, description, inputSchema } = toSentTool(tool)
  const known = copies.get(inputSchema) ?? structuredClone(toToolParameters(inputSchema, 'openai'))
  copies.set(inputSchema, known)
  return { name, description, inputSchema: known }
}

// A tool's schema is the same object in every request, and so is its copy.
const copies = new WeakMap<JsonSchema, JsonSchema>()
