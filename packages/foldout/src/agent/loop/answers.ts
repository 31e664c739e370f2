import { FoldoutError } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { cutWithCount, shorten } from '../../core/text.ts'
import type { ToolCall } from '../../adapters/contract.ts'
import type { ApprovalAnswer, ApprovalRequest, HeldApproval } from '../approvals.ts'
import { approvalAnswered } from '../events.ts'
import { MAX_APPROVAL_REASON } from '../limits.ts'
import { hashRequest, isExpired } from './calls/approval.ts'
import { findTarget, findTool } from './calls/call.ts'
import type { RunCore } from './core.ts'
import { agentRun, type RunState } from './run-state.ts'

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
  if (!isPlainObject(answer)) return false
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

function checkAnswer(core: RunCore, { callId, digest, approved }: ApprovalAnswer): void {
  const { state } = core.journal
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

function hasResult({ messages, finished }: RunState, callId: string): boolean {
  return [...messages, ...finished].some((message) => message.role === 'tool' && message.callId === callId)
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
  const tool = journal.state.approvals.find(({ callId }) => callId === answer.callId)?.tool ?? ''
  journal.record(agentRun.events.answered(answer))
  const event = { ...answer, tool }
  session.dispatch(approvalAnswered(event))
  tell({ type: 'approval/answered', ...event })
}

/** Lists the requests that have no answer yet. */
export function listWaiting({ approvals }: Pick<RunState, 'approvals'>): readonly ApprovalRequest[] {
  return approvals.filter(({ answer }) => !answer)
}
