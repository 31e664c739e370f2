import { describeUnapproved, hashCall } from '../tools/approval.ts'
import type { ExecuteOptions } from '../tools/execute.ts'
import { fail, type ToolFailure } from '../tools/result.ts'
import type { ApprovalNeed } from '../tools/tool.ts'
import type { CallContext, EntryCall } from './tool.ts'

/**
 * Options that decide whether a call of a catalog's tool may run.
 *
 * @example
 * ```ts
 * const options: ApprovalOptions = { approve: ({ entry }) => entry.annotations?.readOnlyHint === true || 'Read only.' }
 * ```
 */
export interface ApprovalOptions {
  /**
   * Called before each call with the tool that would run, even if the call goes through a meta tool. `true` allows the
   * call, even if it needs approval and nobody can be asked. A string rejects it, and the model reads that string.
   */
  readonly approve?: (call: EntryCall, context: CallContext) => Approval | Promise<Approval>
  /**
   * Decides whether a person has to approve a call before it runs, in addition to the tool's own `needsApproval`; if
   * so, the run pauses. Any result but `false` asks, and a string is the reason. If a call cannot wait for a person
   * (outside a run, and in `run_code`), it fails, unless `approve` allows it.
   */
  readonly needsApproval?: (call: EntryCall, context: CallContext) => ApprovalNeed | Promise<ApprovalNeed>
}

/**
 * Whether a call may run: `true` or `false`, or a string that says why not.
 *
 * @example
 * ```ts
 * const approve = ({ entry }: EntryCall): Approval =>
 *   entry.annotations?.destructiveHint !== true || `${entry.name} deletes data. Ask the user first.`
 * const catalog = createCatalog(tools, { approve })
 * ```
 */
export type Approval = boolean | string

/** Returns the approval settings of one call. */
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
