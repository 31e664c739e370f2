import type { WaitingCall } from '../../gateway/policy/approvals/approval-store.ts'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { withStore, type StoreOptions } from '../support/store.ts'
import { createStyler, indentBlock, toLine } from '../support/text.ts'

export interface PolicyOptions extends StoreOptions {
  readonly json?: boolean
}

/** `foldout approvals`: lists the calls that wait for the user. Returns the exit code. */
export async function listApprovals(options: PolicyOptions, surroundings: Surroundings): Promise<number> {
  const { stdout, env } = surroundings
  const calls = await withStore(options, surroundings, ({ approvals }) => approvals.list())
  if (options.json) {
    stdout.write(`${JSON.stringify({ approvals: calls.map(toJson) }, null, 2)}\n`)
    return EXIT.done
  }
  if (calls.length === 0) stdout.write('No calls are waiting for your approval.\n')
  const style = createStyler(stdout, env)
  for (const call of calls) {
    stdout.write(`${style('bold', toLine(call.tool))} for ${describeCaller(call)}\n`)
    for (const line of indentBlock(call.arguments, '  ')) stdout.write(`${line}\n`)
    if (call.reason !== undefined) stdout.write(`  ${style('yellow', toLine(call.reason))}\n`)
    // One command per line, so that each can be copied.
    stdout.write(style('dim', `  foldout approve --call ${call.id}\n  foldout deny ${call.id}\n`))
  }
  return EXIT.done
}

export function describeCaller({ client, user, preset }: WaitingCall): string {
  const parts = [
    client === undefined ? 'a command' : `the client ${toLine(client)}`,
    ...(user === undefined ? [] : [`of ${toLine(user)}`]),
    ...(preset === '' ? [] : [`in the preset ${toLine(preset)}`]),
  ]
  return parts.join(' ')
}

/** Leaves out the binding, which is private. */
export function toJson(call: WaitingCall): object {
  const { binding: _, expiresAt, ...shown } = call
  return { ...shown, expiresAt: new Date(expiresAt).toISOString() }
}
