import type { CallClient, CallResult } from 'foldout/catalog'
import type { AuditOutcome } from '../../policy/audit/audit-store.ts'
import type { AuditedCall } from '../../policy/audit/audit.ts'
import type { Traffic } from '../../traffic/traffic.ts'
import { countBytes, type Call, type CallRecord, type Next, type Stage } from '../call/call.ts'
import { CallTimeout } from './limit-time.ts'

/** Logs how a call ended, and reports what was decided about it. */
export const audit: Stage = (call, next) => {
  const { policy, onTraffic } = call.scope
  if (policy.audit || onTraffic) return logCall(call, next)
  return next(call)
}

async function logCall(call: Call, next: Next): Promise<CallResult> {
  const { scope, preset, path, record, context } = call
  const start = performance.now()
  let result: CallResult | undefined
  try {
    result = await next(call)
    return result
  } finally {
    const decision = getDecision(record)
    if (decision)
      scope.onTraffic?.({
        type: 'decision',
        preset,
        tool: path,
        arguments: record.arguments,
        decision,
        request: context.request,
      })
    scope.policy.audit?.note({
      client: describeClient(context.client),
      preset,
      tool: path,
      arguments: record.arguments,
      outcome: getOutcome(record, result, context.signal),
      durationMs: Math.round(performance.now() - start),
      bytes: measureResult(result),
    })
  }
}

/** A client as the audit log names it. */
export function describeClient(client: CallClient | undefined): AuditedCall['client'] {
  return client && { id: client.id, name: client.name, user: client.principal }
}

/** The size of a result for the log; 0 if it cannot be measured. */
export function measureResult(result: CallResult | undefined): number {
  if (result === undefined) return 0
  const bytes = countBytes(result)
  if (bytes === Infinity) return 0
  return bytes
}

/** What a rule, a quota or the user decided; undefined for a call that was simply allowed. */
function getDecision({
  refusal,
  decision,
}: CallRecord): Extract<Traffic, { type: 'decision' }>['decision'] | undefined {
  if (refusal) return refusal
  if (decision.action === 'ask') return 'approved'
  return undefined
}

function getOutcome(
  { refusal }: CallRecord,
  result: CallResult | undefined,
  signal: AbortSignal | undefined,
): AuditOutcome {
  if (refusal) return refusal
  if (!result) return getInterruption(signal)
  if (result['resultType'] === 'input_required') return 'asked'
  if (result.isError === true) return 'error'
  return 'ok'
}

function getInterruption(signal: AbortSignal | undefined): AuditOutcome {
  if (!signal?.aborted) return 'error'
  if (signal.reason instanceof CallTimeout) return 'timed out'
  return 'cancelled'
}
