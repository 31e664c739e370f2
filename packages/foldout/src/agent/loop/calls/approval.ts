import type { ToolCall } from '../../../adapters/contract.ts'
import { untilAborted } from '../../../core/abort.ts'
import { sha256Hex } from '../../../core/hash.ts'
import { canonicalJson } from '../../../core/json/json.ts'
import { cutWithCount } from '../../../core/text.ts'
import { hashCall } from '../../../tools/approval.ts'
import { checkArguments, createThrownHandler } from '../../../tools/execute.ts'
import { fail, type ToolFailure } from '../../../tools/result.ts'
import { describeThrown } from '../../../tools/thrown.ts'
import { toolDefinition } from '../../../tools/definition.ts'
import type { AnyTool, ApprovalNeed, FoundTarget } from '../../../tools/tool.ts'
import type { ApprovalRequest, HeldApproval } from '../../state/approvals.ts'
import { MAX_APPROVAL_REASON } from '../../limits.ts'
import type { AgentOptions, InterruptedCalls } from '../../options.ts'
import type { RunState } from '../../state/run-state.ts'
import { createToolContext, findTarget, findTool, type CallContext } from './call.ts'

/** The state of a run's approvals. */
export interface ApprovalContext extends CallContext {
  readonly approval: {
    readonly getState: () => Pick<RunState, 'id' | 'approvals' | 'calling'>
    readonly needsApproval: AgentOptions['needsApproval']
    readonly interruptedCalls: InterruptedCalls
    readonly ttlMs: number | undefined
    /** Returns the message for the model if a call cannot wait for a person; `undefined` if it can. */
    refuseWait(call: ToolCall): string | undefined
    /** Finds the path of the open section that offers a tool. */
    findSection(tool: string): string | undefined
    /** Records that a person is asked. */
    asked(request: ApprovalRequest): void
  }
}

/**
 * Whether a call runs now. `digest` identifies the call; `cleared` identifies the call it may run, for tools that run
 * other tools.
 */
export type Clearance =
  | {
      readonly type: 'run'
      readonly digest: string
      readonly cleared: string | undefined
      /** Why a person was asked, who has approved the call. */
      readonly reason?: string
    }
  | { readonly type: 'wait' }
  /** There is no such tool yet, but an earlier call may add it. */
  | { readonly type: 'unknown'; readonly message: string }
  | { readonly type: 'refused'; readonly result: ToolFailure }

/** The reason for asking about a call that was interrupted. */
const INTERRUPTED = 'This call began, but the process ended before the call did. It may already have taken effect.'
/** The same, for a call that was already approved. */
const INTERRUPTED_APPROVED =
  'This call was approved and began, but the process ended before the call did. It may already have taken effect.'
/** The message for the model about an interrupted call. */
const UNKNOWN_OUTCOME =
  'The outcome of this call is unknown: it began, but the process ended before the call did. It may have taken effect. Find out before you call it again.'

/** Decides whether a call runs, waits for a person, or is answered with a failure. */
export async function clearCall(call: ToolCall, context: ApprovalContext): Promise<Clearance> {
  const { getState, needsApproval } = context.approval
  const found = findTool(call, context.toolbox)
  const held = getState().approvals.find(({ callId }) => callId === call.id)
  if (held?.answer?.approved === false) return { type: 'refused', result: fail(describeDenial(held.answer.reason)) }
  if (!('tool' in found)) return { type: 'unknown', message: found.message }
  const { tool } = found
  try {
    const digest = hashCall(call.name, call.arguments)
    const interrupted = getInterrupted(call, { tool, held }, context)
    if (interrupted === 'tell' && !held) return { type: 'refused', result: fail(UNKNOWN_OUTCOME) }
    if (!held && !needsApproval && !tool.needsApproval && !interrupted)
      return { type: 'run', digest, cleared: undefined }
    return await decide({ call, digest, tool, target: findTarget(call, tool), held, interrupted }, context)
  } catch (error) {
    // It is unknown whether the call may run, so it does not.
    const report = createThrownHandler(call.name, { ...context.tools, callId: call.id })
    return { type: 'refused', result: fail(report(error) ?? describeThrown(call.name, error)) }
  }
}

/**
 * Decides what happens to a call that had begun when another process ended. Nothing special if it had not begun, or if
 * it may run again: because it only reads, or because running it twice has the same effect. An approval is valid for
 * one run of the call.
 */
function getInterrupted(
  call: ToolCall,
  { tool, held }: { readonly tool: AnyTool; readonly held: HeldApproval | undefined },
  { approval }: ApprovalContext,
): InterruptedCalls | undefined {
  if (!approval.getState().calling.some(({ callId }) => callId === call.id)) return undefined
  const { annotations = {} } = findTarget(call, tool) ?? tool
  const mayRepeat = annotations.readOnlyHint === true || annotations.idempotentHint === true
  if (mayRepeat && !held) return undefined
  return approval.interruptedCalls
}

interface CallInQuestion {
  readonly call: ToolCall
  readonly digest: string
  readonly tool: AnyTool
  readonly target: FoundTarget | undefined
  readonly held: HeldApproval | undefined
  /** Set if the call was interrupted and cannot simply run again. */
  readonly interrupted: InterruptedCalls | undefined
}

async function decide(asked: CallInQuestion, context: ApprovalContext): Promise<Clearance> {
  const { call, digest, tool, target, held, interrupted } = asked
  const { getState, refuseWait, ttlMs } = context.approval
  const { id } = getState()
  const cleared = hashCall(target?.name ?? tool.name, target?.arguments ?? call.arguments)
  const isRevoked = held?.answer !== undefined && interrupted !== undefined
  if (held && !isRevoked && hashRequest(held, { id, call, tool, target }) === held.digest) {
    if (held.answer) return { type: 'run', digest, cleared, reason: held.reason }
    if (!isExpired(held)) return { type: 'wait' }
  }
  const need = getInterruptedNeed(asked) ?? (await findNeed(asked, context))
  if (need === false) return { type: 'run', digest, cleared }
  const refusal = refuseWait(call)
  if (refusal !== undefined) return { type: 'refused', result: fail(refusal) }
  // Later than the previous request, so an answer to that request does not fit this one.
  const now = Math.max(Date.now(), Date.parse(held?.askedAt ?? '') + 1 || 0)
  const section = context.approval.findSection(call.name)
  const request = {
    callId: call.id,
    tool: call.name,
    arguments: call.arguments ?? {},
    ...(target && target.name !== call.name && { target: { name: target.name, arguments: target.arguments } }),
    reason: typeof need === 'string' ? cutWithCount(need, MAX_APPROVAL_REASON) : '',
    ...(section !== undefined && { section }),
    askedAt: new Date(now).toISOString(),
    ...(ttlMs !== undefined && { expiresAt: new Date(now + ttlMs).toISOString() }),
  }
  context.approval.asked({ ...request, digest: hashRequest(request, { id, call, tool, target }) })
  return { type: 'wait' }
}

/**
 * Returns the reason why a person has to decide about an interrupted call; `undefined` if the interruption is not the
 * reason.
 */
function getInterruptedNeed({ held, interrupted }: CallInQuestion): string | undefined {
  if (held?.answer && interrupted) return INTERRUPTED_APPROVED
  if (interrupted === 'ask') return INTERRUPTED
  return undefined
}

/**
 * Whether the tool or the run requires approval for a call. A call with wrong arguments fails without asking anyone.
 */
async function findNeed({ call, tool, target }: CallInQuestion, context: ApprovalContext): Promise<ApprovalNeed> {
  const { signal, release } = context.fork()
  const transaction = context.tools.session.begin()
  try {
    return await untilAborted(signal, async () => {
      const checked = await checkArguments(tool, call.arguments ?? {})
      if (checked.issues) return false
      const inner = { ...createToolContext(call, context, signal), session: transaction.session }
      const own = (await tool.needsApproval?.(checked.value, inner)) ?? !!tool.needsApproval
      if (own !== false) return own
      const { needsApproval } = context.approval
      if (!needsApproval) return false
      return needsApproval(
        {
          callId: call.id,
          tool: target?.name ?? call.name,
          arguments: target?.arguments ?? call.arguments ?? {},
          annotations: target?.annotations ?? tool.annotations,
          section: context.approval.findSection(call.name),
        },
        inner,
      )
    })
  } finally {
    // The check must not change anything.
    transaction.abandon()
    release()
  }
}

/**
 * Hashes everything that an answer is bound to: the conversation, the call, and the definitions of the tools that would
 * run.
 */
export function hashRequest(
  { askedAt, expiresAt }: Pick<ApprovalRequest, 'askedAt' | 'expiresAt'>,
  { id, call, tool, target }: Omit<CallInQuestion, 'held' | 'digest' | 'interrupted'> & Pick<RunState, 'id'>,
): string {
  const definitions = [
    toolDefinition(tool),
    tool.annotations ?? null,
    target?.definition ?? null,
    target?.annotations ?? null,
  ]
  const inner = target && [target.name, target.arguments]
  const times = [askedAt, expiresAt ?? null]
  return sha256Hex(canonicalJson([id, call.id, call.name, call.arguments ?? {}, inner ?? null, definitions, times]))
}

export function isExpired({ expiresAt }: Pick<ApprovalRequest, 'expiresAt'>): boolean {
  return expiresAt !== undefined && !(Date.now() < Date.parse(expiresAt))
}

/** Formats the message for the model about a denied call. */
export function describeDenial(reason: string | undefined): string {
  const denial = 'Not run: a person was asked and did not approve this call.'
  const why = reason?.trim()
  if (why) return `${denial} The reason given: ${why}`
  return denial
}
