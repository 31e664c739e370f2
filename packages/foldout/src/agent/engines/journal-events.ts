import type { Message, Usage } from '../../adapters/contract.ts'
import { NO_USAGE } from '../../adapters/contract.ts'
import type { Event } from '../../session/event.ts'
import { createJournaledSession } from '../../session/session.ts'
import type { StoredSession } from '../../session/stores/store.ts'
import type { AgentEvent } from '../events.ts'
import { agentRun, type RunState } from '../state/run-state.ts'
import { pickRun } from './waiting-approvals.ts'

/** Events that the journal of a run has in the form in which a run reports them. */
const KEPT = [
  'tool/invoked',
  'tools/injected',
  'tools/removed',
  'run/expanded',
  'results/folded',
  'sections/opened',
  'approval/asked',
  'approval/answered',
] as const

/** An event of a run that its journal has. */
export type JournalEvent = Extract<
  AgentEvent,
  { readonly type: (typeof KEPT)[number] | 'reply/received' | 'tool/called' | 'run/finished' }
>

/** What one entry of a journal says about its run. */
export interface JournalStep {
  /** The number of the entry. */
  readonly sequence: number
  /** The state of the run before it. */
  readonly before: RunState
  readonly events: readonly JournalEvent[]
}

/** Reads the journal of a run, as it grows. */
export interface JournalReader {
  /** The state after what was read. */
  readonly state: RunState
  /** Reads what a session has beyond what was read before. */
  read(stored: StoredSession | undefined): Iterable<JournalStep>
}

export function createJournalReader(): JournalReader {
  let owned: ReturnType<typeof createJournaledSession> | undefined
  let last = 0
  let usage = NO_USAGE
  const getState = (): RunState => owned?.session.get(agentRun) ?? agentRun.initial
  return {
    get state() {
      return getState()
    },
    *read(stored) {
      if (!stored) return
      // What was compacted before it was read is in the snapshot, without its events.
      if (!owned || stored.sequence > last) {
        owned = createJournaledSession(stored.snapshot ? { snapshot: pickRun(stored.snapshot) } : {})
        last = stored.sequence
      }
      for (const { sequence, event, scope } of stored.events) {
        if (sequence <= last) continue
        const before = getState()
        if (scope === 'restore') owned.replayRestore(pickRun(event.payload))
        else owned.replay(event, scope)
        last = sequence
        if (event.type === 'run/used') usage = (event.payload as { readonly usage: Usage }).usage
        yield { sequence, before, events: scope === 'all' ? toEvents(event, { state: getState(), usage }) : [] }
      }
    },
  }
}

/** `state` is the one after the event, and `usage` that of the last reply. */
function toEvents(
  event: Event,
  { state, usage }: { readonly state: RunState; readonly usage: Usage },
): readonly JournalEvent[] {
  switch (event.type) {
    case 'run/said': {
      const { message } = event.payload as { readonly message: Message }
      if (message.role !== 'assistant') return []
      const calls = message.toolCalls.map((call) => ({ type: 'tool/called', call }) as const)
      return [{ type: 'reply/received', message, usage }, ...calls]
    }
    case 'run/completed':
    case 'run/stopped':
    case 'run/paused':
      return [toFinished(state)]
    default:
      return isKept(event.type) && isOwn(event, state)
        ? [{ ...(event.payload as object), type: event.type } as JournalEvent]
        : []
  }
}

function toFinished({ status, usage, totalUsage }: RunState): JournalEvent {
  const end = status === 'completed' || status === 'waiting' ? status : 'stopped'
  return { type: 'run/finished', status: end, usage, totalUsage }
}

function isKept(type: string): boolean {
  return (KEPT as readonly string[]).includes(type)
}

/** The calls of a run that answers a question about a section are in the same journal. */
function isOwn({ payload }: Event, { messages }: RunState): boolean {
  const callId = (payload as { readonly callId?: unknown } | undefined)?.callId
  if (callId === undefined) return true
  const reply = messages.findLast((message) => message.role === 'assistant')
  return reply?.role === 'assistant' && reply.toolCalls.some(({ id }) => id === callId)
}
