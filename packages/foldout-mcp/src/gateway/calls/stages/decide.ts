import { refuse, type Stage } from '../call/call.ts'

/** Asks the rules, and stops a call that they deny. Most gateways have none. */
export const decide: Stage = (call, next) => {
  const rules = call.scope.policy.getRules(call.preset)
  if (rules.isEmpty) return next(call)
  const decision = rules.decide(call.who, call.facts)
  call.record.decision = decision
  if (decision.action !== 'deny') return next(call)
  call.record.refusal = 'denied'
  return Promise.resolve(refuse(call, `a rule denies it. ${decision.reason ?? ''}`.trim()))
}
