import { describeUnapproved, hashCall } from '../tools/approval.ts'
import type { ExecuteOptions } from '../tools/execute.ts'
import { fail, type ToolFailure } from '../tools/result.ts'
import type { ApprovalNeed } from '../tools/tool.ts'
import type { EntryCall } from './exposures/exposure.ts'
import type { CallContext } from './tool.ts'

/**
 * Who decides whether a call of a catalog's tool may run.
 *
 * @example
 * ```ts
 * const options: ApprovalOptions = { approve: ({ entry }) => entry.annotations?.readOnlyHint === true || 'Read only.' }
 * ```
 */
export interface ApprovalOptions {
  /**
   * Called before each call with the tool that would run, even if the call goes through a meta tool. `true` allows the call,
   * also one that needs approval and that nobody could be asked about. A text refuses it, and the model reads that text.
   */
  readonly approve?: (call: EntryCall, context: CallContext) => Approval | Promise<Approval>
  /**
   * Whether a person has to approve a call before it runs, beside what the tool says itself: a run pauses then. Anything but
   * `false` asks, and a text says why. Where a call cannot wait for a person (outside of a run, and in `run_code`) it fails,
   * unless `approve` allows it.
   */
  readonly needsApproval?: (call: EntryCall, context: CallContext) => ApprovalNeed | Promise<ApprovalNeed>
}

/**
 * Whether a call may run: `true` or `false`, or a text that says why not.
 *
 * @example
 * ```ts
 * const approve = ({ entry }: EntryCall): Approval =>
 *   entry.annotations?.destructiveHint !== true || `${entry.name} deletes data. Ask the user first.`
 * const catalog = createCatalog(tools, { approve })
 * ```
 */
export type Approval = boolean | string

/** How one call is approved. */
export function getApprovalSettings(
  options: ApprovalOptions,
  call: EntryCall,
  context: CallContext,
): Pick<ExecuteOptions, 'approve' | 'isCleared'> {
  const { approve, needsApproval } = options
  if (approve) return { isCleared: true, approve: async () => toRefusal(await approve(call, context), call) }
  const { clearedCall } = context
  // Few calls are cleared, and a hash takes as long as a fifth of a small call.
  const isCleared = clearedCall !== undefined && clearedCall === hashCall(call.entry.qualified, call.arguments)
  if (isCleared || !needsApproval) return { isCleared }
  return {
    isCleared,
    async approve() {
      if ((await needsApproval(call, context)) === false) return undefined
      return fail(describeUnapproved(call.entry.name))
    },
  }
}

function toRefusal(approval: Approval, { entry }: EntryCall): ToolFailure | undefined {
  if (approval === true) return undefined
  return fail((typeof approval === 'string' && approval) || `Tool '${entry.name}' was not approved. Nothing was run.`)
}
