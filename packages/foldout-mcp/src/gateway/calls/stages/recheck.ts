import type { Decision } from '../../policy/rules/rules.ts'
import type { ToolDefinitionNow } from '../../servers/server-tool.ts'
import type { Call, Stage } from '../call/call.ts'

/**
 * Checks a call right before it is sent. What was decided on may have come from the cache, and the server that was started for the
 * call may define the tool differently.
 */
export const recheck: Stage = (call, next) =>
  next({
    ...call,
    check(running) {
      const { isHeld, changed } = call.server.known.compare(call.tool, running)
      if (isHeld) return HELD
      return changed && decideAgain(call, changed)
    },
  })

const HELD = `its definition has changed, and waits for the user's approval. Ask the user to run "foldout pins".`

/** Decides about the tool as the running server defines it. Says why the call must not be sent. */
function decideAgain({ scope, who, facts, record }: Call, { annotations }: ToolDefinitionNow): string | undefined {
  const rules = scope.policy.getRules(scope.preset)
  if (rules.isEmpty) return undefined
  const now = rules.decide(who, { ...facts, annotations })
  if (now.action === 'allow') return undefined
  const why = explainChange(record.decision, now)
  record.decision = now
  if (now.action === 'deny') record.refusal = 'denied'
  else record.refusal = 'not approved'
  return why
}

function explainChange(before: Decision, now: Decision): string {
  const again = 'List or search the tools again'
  if (now.action === 'deny')
    return `its definition has changed since it was listed, and a rule denies it now. ${again}.`
  if (before.action === 'ask')
    return `its definition has changed since the user approved the call. ${again}, then repeat the call, so that the user can approve it with the new definition.`
  return `its definition has changed since it was listed, and the user has to approve it now. ${again}, then repeat the call.`
}
