import { randomUUID } from 'node:crypto'
import type { Message, RunState } from 'foldout'
import { dropUndefined } from 'foldout-shared/values'
import type { InspectorSource } from '../inspector.ts'
import { MAX_LISTED_RUNS } from './limits.ts'
import type { ClientSummary, ClientView, RunFork, RunStep, WhyNot } from '../protocol/protocol.ts'
import type { Redactor } from '../../gateway/policy/secrets/redact.ts'
import { describeMessage, describeRun, describeSummary } from './describe.ts'
import { exportRun } from './export.ts'
import type { ModelMessage } from './conversation.ts'
import type { RunModel } from './model.ts'
import { describeRunStep } from './steps.ts'
import type { RunStore } from './store.ts'

/** Clients of a gateway, as the run view shows them. */
interface ShownClients {
  /** The one that did something last comes first. */
  readonly clients: readonly ShownClient[]
  /** Lines that are not part of a recording. */
  readonly skipped: number
  find(id: string): ShownClient | undefined
  subscribe(listener: () => void): () => void
}

interface ShownClient {
  readonly summary: ClientSummary
  readonly steps: readonly RunStep[]
  describe(skipped: number): ClientView
}

export interface RunSourceOptions {
  readonly redactor: Redactor
  /** The clients of a gateway, which are shown beside the runs. */
  readonly clients?: ShownClients | undefined
}

/** The run view: what happened in recorded runs, live or from files, and what clients of a gateway do. */
export function createRunSource(store: RunStore, { redactor, clients }: RunSourceOptions): InspectorSource {
  return {
    async download(path, assets) {
      const [, id] = /^export\/([^/]+)\.html$/.exec(path) ?? []
      const run = id === undefined ? undefined : store.find(decode(id))
      return run && exportRun(run, { redactor, assets })
    },
    view: 'runs',
    subscribe(listener) {
      const stops = [store.subscribe(listener), clients?.subscribe(listener)]
      return () => {
        for (const stop of stops) stop?.()
      }
    },
    handlers: {
      'runs/list': () => [
        ...store.runs.slice(0, MAX_LISTED_RUNS).map(describeSummary),
        ...(clients?.clients ?? []).slice(0, MAX_LISTED_RUNS).map((client) => client.summary),
      ],
      'runs/get': ({ id }) => clients?.find(id)?.describe(clients.skipped) ?? describeRun(store.get(id), store.skipped),
      'runs/steps': ({ id, from, count }) => {
        const client = clients?.find(id)
        if (client) return client.steps.slice(from, from + count)
        const run = store.get(id)
        return run.steps.slice(from, from + count).map((step, i) => describeRunStep(run, step, from + i))
      },
      'runs/messages': ({ id, from, count }) =>
        store
          .get(id)
          .messages.slice(from, from + count)
          .map((message, i) => describeMessage(message, from + i)),
      'runs/why': ({ id, request, tool }) => explainOffer(store.get(id), request, tool),
      'runs/fork': ({ id, request }) => forkRun(store.get(id), request),
      'runs/record': ({ lines }) => {
        store.add(lines)
        return {}
      },
    },
  }
}

/** An id from an address; one that nothing has if it cannot be read. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** Why a tool was not offered in a request, from 1. */
export function explainOffer(run: RunModel, at: number, tool: string): WhyNot {
  const request = run.requests[at - 1]
  if (!request) return { isOffered: false, reason: `The run has no request ${at}.` }
  if (request.tools.includes(tool)) return { isOffered: true, reason: `Request ${at} offered it.` }
  const later = run.requests.findIndex((each, i) => i >= at && each.tools.includes(tool))
  const then = later === -1 ? 'No later request offered it either.' : `Request ${later + 1} was the first to offer it.`
  const folds = request.render?.toolsInFolds ?? {}
  const section = Object.hasOwn(folds, tool) ? folds[tool] : undefined
  if (section !== undefined) {
    const opened = run.openings.find(({ keys }) => keys.some((key) => section === key || section.startsWith(`${key}.`)))
    const how = opened
      ? `The model opened ${opened.keys.join(', ')} after request ${opened.request}${opened.reason === '' ? '' : `, because: ${opened.reason}`}.`
      : 'The model did not open it in this run.'
    return { isOffered: false, reason: `It belongs to the section '${section}', which was folded. ${how} ${then}` }
  }
  if (run.tools.has(tool))
    return { isOffered: false, reason: `No section of the render before request ${at} had it. ${then}` }
  const near = [...run.tools].filter((name) => name.includes(tool) || tool.includes(name)).slice(0, 3)
  const hint = near.length === 0 ? '' : ` Tools with such a name: ${near.join(', ')}.`
  const behind = request.tools.includes('search_tools')
    ? ' It may be behind search_tools: the catalog view explains what a search finds.'
    : ''
  return { isOffered: false, reason: `No section of this prompt has a tool '${tool}'.${hint}${behind}` }
}

/** What `runAgent` needs to continue. Everything else in a state has a default. */
type ForkedState = Pick<RunState, 'version' | 'id' | 'status' | 'messages' | 'disclosed'>

/**
 * A new run that continues from where another run sent a request, with the conversation and the open sections at that point. It has an id of
 * its own, and no approval of the other run counts in it.
 */
export function forkRun(run: RunModel, at: number): RunFork {
  const request = run.requests[at - 1]
  if (!request) throw new Error(`The run has no request ${at}.`)
  if (!run.hasTexts)
    throw new Error('This run was recorded without texts, so there is no conversation to continue from.')
  if (run.earlier > 0)
    throw new Error(
      `This run began with ${run.earlier} earlier messages, which are not in its recording, so a fork would continue without them. Fork the session itself, or record the conversation from its first turn.`,
    )
  const id = randomUUID()
  const state: ForkedState = {
    version: 1,
    id,
    status: 'stopped',
    messages: run.messages.slice(0, request.messages).flatMap(toMessage),
    disclosed: [...request.tools],
  }
  const opened = run.openings.filter((opening) => opening.request < at && opening.answer !== 'none')
  const paths = [...(request.render?.full ?? []), ...opened.flatMap(({ keys }) => keys)]
  const visibility = Object.fromEntries(paths.map((path) => [path, 'full']))
  return { id, json: JSON.stringify({ state, visibility }, null, 2) }
}

function toMessage({ role, text, toolCalls, callId, name, isBad }: ModelMessage): readonly Message[] {
  switch (role) {
    // What was open then is rendered open, with its tools.
    case 'system':
    case 'tools':
      return []
    case 'user':
      return [{ role, text }]
    case 'assistant':
      return [
        {
          role,
          text,
          toolCalls: toolCalls.map(({ malformed, ...call }) => ({ ...call, ...dropUndefined({ malformed }) })),
        },
      ]
    default:
      return [{ role: 'tool', callId, name, text, isError: isBad }]
  }
}
