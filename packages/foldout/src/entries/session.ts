/**
 * Sessions beyond `createSession`: your own slices and events, logs, snapshots and stores.
 *
 * @module foldout/session
 */

export { defineEvent, type Event, type EventCreator } from '../session/event.ts'
export { Log, defineLog, type LogOptions } from '../session/log.ts'
export { isSameLease, type LeaseOptions } from '../session/stores/lease.ts'
export type { SessionLease } from '../session/stores/store.ts'
export { createMemoryStore } from '../session/stores/memory-store.ts'
export {
  checkEvents,
  checkSessionId,
  checkSnapshot,
  selectPage,
  type StoredRange,
} from '../session/stores/store-checks.ts'

export {
  DispatchError,
  type DispatchFailure,
  type Listener,
  type Scope,
  type SessionOptions,
  type SessionReader,
  type SessionTransaction,
} from '../session/session.ts'
export type { AnySlice, On, PayloadCheck, Slice, SliceEvents, SliceOptions } from '../session/slice.ts'
export type { SliceSnapshot, Snapshot } from '../session/snapshot.ts'
export {
  type SessionEnd,
  type SessionPage,
  type SessionStore,
  type StoredEvent,
  type StoredSession,
} from '../session/stores/store.ts'
export { openSession, type KeptSession, type StoredSessionOptions } from '../session/stores/open-session.ts'
export { visibility, type Visibility, type VisibilityOverrides } from '../session/visibility.ts'
export {
  approvalAnswered,
  approvalAsked,
  promptRendered,
  resultsFolded,
  sectionsOpened,
  runRestarted,
  toolInvoked,
  toolsInjected,
  toolsRemoved,
  type ApprovalDecision,
  type PromptRendered,
  type ResultRead,
  type ResultsFolded,
  type SectionsOpened,
  type RunRestarted,
  type RunStarted,
  type ToolInvoked,
  type ToolThrew,
  type ToolsInjected,
  type ToolsRemoved,
} from '../agent/events.ts'
export type { LimitKind } from '../agent/errors.ts'
export type { PartialOutput } from '../agent/partial-output.ts'
export type { ApprovalCall, HeldApproval, RunningCall } from '../agent/state/approvals.ts'
export type { ConversationSummary, FoldedResult } from '../agent/refold/projection.ts'
export {
  agentRun,
  type ConversationStart,
  type DelegateRun,
  type PendingOpening,
  type RunState,
  type ShownSection,
} from '../agent/state/run-state.ts'
export type { StopReason } from '../agent/limits.ts'
export type { AnyResult } from '../agent/options.ts'
