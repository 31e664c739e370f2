import { subtractUsage, type Usage } from '../../../adapters/usage/usage.ts'
import { priceUsage, type UsageRates } from '../../../adapters/usage/price-usage.ts'
import type { Event } from '../../../session/event.ts'
import type { Session, SessionReader } from '../../../session/session.ts'
import type { AnySlice, Slice } from '../../../session/slice.ts'
import { visibility } from '../../../session/visibility.ts'
import type { RunJournal } from '../session/journal.ts'
import { agentRun, readUsed, type DelegateRun } from '../../state/run-state.ts'

export interface DelegateSessionParts {
  /** The session of the run that asks. */
  readonly session: Session
  readonly journal: RunJournal
  readonly callId: string
  /** What the model costs, if its provider does not say. */
  readonly rates: UsageRates | undefined
}

/** What the loop says about its own conversation, which is not the one of the session. */
const OWN_CONVERSATION: ReadonlySet<string> = new Set([
  'prompt/rendered',
  'tools/injected',
  'tools/removed',
  'sections/opened',
  'results/folded',
])

/**
 * The session of a run that answers a question: the one of the run that asks, except for the conversation and what is
 * open. These are kept in the journal of the run that asks.
 */
export function createDelegateSession(parts: DelegateSessionParts): Session {
  const { session, journal, callId } = parts
  const find = (): DelegateRun | undefined => journal.state.delegates.find((each) => each.callId === callId)
  const record = (event: Event): void => {
    const costUsd = findCost(event, parts.rates)
    const told = event.payload === undefined ? { type: event.type } : event
    journal.record(
      agentRun.events.delegated({ callId, event: told as Event, ...(costUsd !== undefined && { costUsd }) }),
    )
  }
  const read = createReader(find)
  return Object.assign(Object.create(session) as Session, {
    ...read(session),
    // The run that asks holds the session in its store.
    id: undefined,
    store: undefined,
    sync: undefined,
    dispatch(event: Event) {
      if (isOwn(event)) record(event)
      else if (!OWN_CONVERSATION.has(event.type)) session.dispatch(prefixCall(event, callId))
    },
    begin() {
      const transaction = session.begin()
      const opened: Event[] = []
      const inner = Object.assign(Object.create(transaction.session) as Session, {
        ...read(transaction.session),
        dispatch(event: Event) {
          if (isOwn(event)) opened.push(event)
          else transaction.session.dispatch(event)
        },
      })
      return {
        session: inner,
        commit() {
          transaction.commit()
          for (const event of opened) record(event)
        },
        abandon: () => transaction.abandon(),
      }
    },
  })
}

function createReader(find: () => DelegateRun | undefined): (session: SessionReader) => SessionReader {
  return (session) => ({
    has: (slice: AnySlice) => slice.name === agentRun.name || session.has(slice),
    get<State>(slice: Slice<string, State, unknown>): State {
      if (slice.name === agentRun.name) return (find()?.state ?? agentRun.initial) as State
      if (slice.name === visibility.name) return (find()?.opened ?? visibility.initial) as State
      return session.get(slice)
    },
  })
}

function isOwn({ type }: Event): boolean {
  // Restarts are told to sessions, and belong to the conversation.
  return type.startsWith('run/') || type.startsWith('visibility/')
}

/** Calls of several conversations may have the same id. */
function prefixCall(event: Event, callId: string): Event {
  const payload = event.payload as { readonly callId?: unknown } | undefined
  if (!isCallEvent(event.type) || typeof payload?.callId !== 'string') return event
  return { ...event, payload: { ...payload, callId: joinCallId(callId, payload.callId) } }
}

function isCallEvent(type: string): boolean {
  return type === 'tool/invoked' || type.startsWith('approval/')
}

/** Identifies a call of a delegate in the run that asks. */
export function joinCallId(asking: string, callId: string): string {
  return `${asking}/${callId}`
}

function findCost(event: Event, rates: UsageRates | undefined): number | undefined {
  if (event.type === 'run/delegated') return (event.payload as { readonly costUsd?: number }).costUsd
  const usage = readUsed(event)
  return usage && (usage.costUsd ?? (rates && priceUsage(usage, rates)))
}

/** What an agent has used for its answer, with the cost if it is known. */
export function sumUsed({ usage, delegated }: DelegateRun['state'], rates: UsageRates | undefined): Usage {
  const own = subtractUsage(usage, delegated)
  const cost = usage.costUsd ?? (rates && priceUsage(own, rates) + (delegated.costUsd ?? 0))
  return { ...usage, ...(cost !== undefined && { costUsd: cost }) }
}
