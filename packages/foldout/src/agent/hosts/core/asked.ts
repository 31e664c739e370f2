import type { Event } from '../../../session/event.ts'
import { includeInSessions, type SessionReader } from '../../../session/session.ts'
import { defineSlice } from '../../../session/slice.ts'
import type { ApprovalNeed } from '../../../tools/tool.ts'
import type { HostCall } from './contract.ts'

const NOTHING: Readonly<Record<string, string>> = {}

const checkTexts = (payload: unknown): string | undefined => {
  const { callId, reason } = payload as { readonly callId?: unknown; readonly reason?: unknown }
  return typeof callId === 'string' && typeof reason === 'string' ? undefined : 'a field of it is not a string'
}

/** What people were asked about calls, for hosts whose state can be changed before they are asked. */
const askedNeeds = includeInSessions(
  defineSlice({
    name: 'askedNeeds',
    initial: NOTHING,
    reducers: {
      asked: (needs, { callId, reason }: { readonly callId: string; readonly reason: string }) => ({
        ...needs,
        [callId]: reason,
      }),
    },
    checks: { asked: checkTexts },
  }),
)

/**
 * Returns the events that remember what a person is asked about a call. Tools are told once the call is approved. Hosts ask
 * again when a run goes on, but the person has read what was asked first.
 */
export function rememberNeed(session: SessionReader, { id }: HostCall, need: ApprovalNeed): readonly Event[] {
  if (typeof need !== 'string' || getAskedReason(session, id) !== undefined) return []
  return [askedNeeds.events.asked({ callId: id, reason: need })]
}

export function getAskedReason(session: SessionReader, callId: string): string | undefined {
  if (!session.has(askedNeeds)) return undefined
  const needs = session.get(askedNeeds)
  return Object.hasOwn(needs, callId) ? needs[callId] : undefined
}
