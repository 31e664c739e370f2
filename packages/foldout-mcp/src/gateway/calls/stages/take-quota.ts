import type { CallResult } from 'foldout/catalog'
import { refuse, type Call, type Next, type Stage } from '../call/call.ts'

/** Counts a call, and stops it if a quota is used up. */
export const takeQuota: Stage = (call, next) => {
  const { quotas } = call.scope.policy
  if (!quotas.counts(call.who, call.facts)) return next(call)
  return countCall(call, next)
}

async function countCall(call: Call, next: Next): Promise<CallResult> {
  const refusal = await call.scope.policy.quotas.take(call.who, call.facts)
  if (refusal === undefined) return next(call)
  call.record.refusal = 'over quota'
  return refuse(call, refusal)
}
