import { FoldoutError } from '../../core/errors.ts'
import { isObject } from 'foldout-shared/values'
import { cutWithCount, shorten } from '../../core/text.ts'
import type { ToolCall } from '../../adapters/contract.ts'
import type { Event } from '../../session/event.ts'
import type { ApprovalAnswer, ApprovalRequest, HeldApproval } from '../state/approvals.ts'
import { approvalAnswered } from '../events.ts'
import { MAX_APPROVAL_REASON } from '../limits.ts'
import { hashRequest, isExpired } from './calls/approval.ts'
import { findTarget, findTool } from './calls/call.ts'
import type { RunCore } from './run-core.ts'
import { joinCallId } from './calls/delegate-session.ts'
import { agentRun, type DelegateRun, type RunState } from '../state/run-state.ts'

/** Checks the answers passed to a run before anything changes. Throws unless all of them can be accepted. */
export function checkAnswers(core: RunCore): void {
  const { approvals: answers, approvalTtlMs: ttl } = core.options
  if (ttl !== undefined && !(Number.isFinite(ttl) && ttl > 0 && ttl <= MAX_TTL_MS))
    throw new FoldoutError('approval-invalid', `approvalTtlMs is ${ttl}. Pass a number of milliseconds greater than 0.`)
  if (answers === undefined) return
  if (!Array.isArray(answers)) throw createInvalid('approvals is not a list')
  const seen = new Set<string>()
  for (const answer of answers as readonly unknown[]) {
    if (!isAnswer(answer)) throw createInvalid('an answer needs callId, digest and approved')
    if (seen.has(answer.callId)) throw createInvalid(`there are two answers for the call ${show(answer.callId)}`)
    seen.add(answer.callId)
    checkAnswer(core, answer)
  }
}

/** A hundred years. */
const MAX_TTL_MS = 100 * 365 * 24 * 60 * 60 * 1000

function isAnswer(answer: unknown): answer is ApprovalAnswer {
  if (!isObject(answer)) return false
  const { callId, digest, approved, reason } = answer
  const isReason = reason === undefined || typeof reason === 'string'
  return typeof callId === 'string' && typeof digest === 'string' && typeof approved === 'boolean' && isReason
}

function createInvalid(fault: string): FoldoutError {
  return new FoldoutError(
    'approval-invalid',
    `These are not answers to approvals: ${fault}. Pass one { callId, digest, approved } for each request in result.approvals.`,
  )
}

function show(callId: string): string {
  return `'${shorten(callId)}'`
}

function checkAnswer(core: RunCore, answer: ApprovalAnswer): void {
  const { callId, digest, approved } = answer
  const { state } = core.journal
  const delegate = findDelegate(state, callId)
  if (delegate) return checkDelegateAnswer(core, delegate, { ...answer, callId: getInnerId(delegate, callId) })
  const held = state.approvals.find((request) => request.callId === callId)
  if (held?.answer || (!held && hasResult(state, callId)))
    throw new FoldoutError(
      'approval-used',
      `The call ${show(callId)} was already answered, and only the first answer counts. Run again without this answer to continue.`,
    )
  if (held?.digest !== digest)
    throw new FoldoutError(
      'approval-unknown',
      `No call ${show(callId)} waits for this answer: the answer belongs to another call or to an earlier request. Answer the requests in the current result.approvals.`,
    )
  // Denying a call is always safe, even if the call has changed.
  if (!approved) return
  if (isExpired(held))
    throw new FoldoutError(
      'approval-expired',
      `The call ${show(callId)} could only be approved until ${held.expiresAt}. Run again without this answer to ask again.`,
    )
  if (!isUnchanged(core, held))
    throw new FoldoutError(
      'approval-changed',
      `The call ${show(callId)}, or the definition of its tool '${held.tool}', has changed since a person was asked. Run again without this answer to ask again.`,
    )
}

/** Finds the run that answers a question and made a call, by the call's id in the run that asks. */
function findDelegate({ delegates, approvals }: RunState, callId: string): DelegateRun | undefined {
  if (approvals.some((request) => request.callId === callId)) return undefined
  return delegates.find((each) => callId.startsWith(joinCallId(each.callId, '')))
}

function getInnerId({ callId: asking }: DelegateRun, callId: string): string {
  return callId.slice(joinCallId(asking, '').length)
}

function checkDelegateAnswer(core: RunCore, delegate: DelegateRun, answer: ApprovalAnswer): void {
  const child = core.delegation.open(core, delegate)
  try {
    if (child) checkAnswer(child, answer)
  } finally {
    child?.release()
  }
}

/** Finds a request of a run, or of one that answers it. */
export function findRequest(state: RunState, callId: string): HeldApproval | undefined {
  const delegate = findDelegate(state, callId)
  if (delegate) return findRequest(delegate.state, getInnerId(delegate, callId))
  return state.approvals.find((request) => request.callId === callId)
}

/** Creates the event that records an answer where the call waits. */
function createAnswered(state: RunState, answer: Omit<ApprovalAnswer, 'digest'>): Event {
  const delegate = findDelegate(state, answer.callId)
  if (!delegate) return agentRun.events.answered(answer)
  const inner = { ...answer, callId: getInnerId(delegate, answer.callId) }
  return agentRun.events.delegated({ callId: delegate.callId, event: createAnswered(delegate.state, inner) })
}

function hasResult({ messages, finished }: RunState, callId: string): boolean {
  const isOf = (asked: string): boolean => asked === callId || callId.startsWith(joinCallId(asked, ''))
  return [...messages, ...finished].some((message) => message.role === 'tool' && isOf(message.callId))
}

/** Whether a call and its tool are unchanged since a person was asked. */
function isUnchanged({ journal, toolbox }: RunCore, held: HeldApproval): boolean {
  const { id, messages } = journal.state
  const call = findCall(messages, held.callId)
  const found = call && findTool(call, toolbox)
  if (!call || !found || !('tool' in found)) return false
  const { tool } = found
  return hashRequest(held, { id, call, tool, target: findTarget(call, tool) }) === held.digest
}

function findCall(messages: RunState['messages'], callId: string): ToolCall | undefined {
  return messages.findLast((message) => message.role === 'assistant')?.toolCalls.find(({ id }) => id === callId)
}

/** Records the answers passed to a run. If the user sends new input instead, the calls that still wait are denied. */
export function takeAnswers(core: RunCore, isNewInput: boolean): void {
  for (const { callId, approved, reason } of core.options.approvals ?? []) {
    take(core, { callId, approved, ...(reason && { reason: cutWithCount(reason, MAX_APPROVAL_REASON) }) })
  }
  if (!isNewInput) return
  for (const { callId } of listWaiting(core.journal.state))
    take(core, { callId, approved: false, reason: NEW_INPUT_REASON })
}

const NEW_INPUT_REASON = 'The user continued with something else.'

function take({ journal, session, tell }: RunCore, answer: Omit<ApprovalAnswer, 'digest'>): void {
  const tool = findRequest(journal.state, answer.callId)?.tool ?? ''
  journal.record(createAnswered(journal.state, answer))
  const event = { ...answer, tool }
  session.dispatch(approvalAnswered(event))
  tell({ type: 'approval/answered', ...event })
}

/** Lists the requests that have no answer yet, also those of runs that answer questions. */
export function listWaiting({
  approvals,
  delegates,
}: Pick<RunState, 'approvals' | 'delegates'>): readonly ApprovalRequest[] {
  const own = approvals.filter(({ answer }) => !answer)
  const others = delegates.flatMap(({ callId, path, state }) =>
    listWaiting(state).map((request) => ({ ...request, callId: joinCallId(callId, request.callId), delegate: path })),
  )
  return [...own, ...others]
}
