import type { Call, Next, Stage } from '../call/call.ts'
import type { CallResult } from 'foldout/catalog'

/** Asks the user about a call, if the rules say so. The user approves what will be sent, not only what the model wrote. */
export const approve: Stage = (call, next) => {
  const { decision } = call.record
  if (decision.action !== 'ask') return next(call)
  return askUser(call, next)
}

async function askUser(call: Call, next: Next): Promise<CallResult> {
  const { record, server, tool } = call
  const request = {
    preset: call.preset,
    tool: call.path,
    arguments: call.arguments,
    reason: record.decision.reason,
    getDefinition: () => server.known.hashTool(tool.shown.name),
  }
  record.refusal = 'not approved'
  let isApproved = false
  const result = await call.scope.policy.approvals.run(request, call.context, (context) => {
    record.refusal = undefined
    isApproved = true
    return next({ ...call, context })
  })
  if (!isApproved && result['resultType'] === 'input_required') record.refusal = 'asked'
  return result
}
