import { formatCount } from 'foldout-shared/numbers'
import { UsageError } from '../../gateway/config/config.ts'
import { APPROVAL_MS } from '../../gateway/policy/approvals/limits.ts'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { withStore } from '../support/store.ts'
import { toLine } from '../support/text.ts'
import { describeCaller, listApprovals, toJson, type PolicyOptions } from './approvals.ts'
import { formatUnapproved, listPins, toJson as toPinJson } from './pins.ts'

export interface ApproveOptions extends PolicyOptions {
  /** The id of a waiting call. */
  readonly call?: string
  /** Accepts the definitions of all servers. */
  readonly all?: boolean
}

/** `foldout approve`: lets one call run once, or accepts tool definitions. Returns the exit code. */
export async function approve(
  server: string | undefined,
  tool: string | undefined,
  options: ApproveOptions,
  surroundings: Surroundings,
): Promise<number> {
  if (options.call !== undefined) {
    if (server !== undefined || options.all) throw new UsageError('Use either --call, or a server or --all, not both.')
    return approveCall(options.call, options, surroundings)
  }
  if (server !== undefined && options.all) throw new UsageError('Use either a server or --all, not both.')
  // Accept nothing that the user did not name.
  if (server === undefined && !options.all) return listPins(options, surroundings)
  const { stdout } = surroundings
  const choice = { ...(server !== undefined && { server }), ...(tool !== undefined && { tool }) }
  const accepted = await withStore(options, surroundings, ({ pins }) => pins.approve(choice))
  if (options.json) stdout.write(`${JSON.stringify({ approved: accepted.map(toPinJson) }, null, 2)}\n`)
  else
    stdout.write(`${formatUnapproved(accepted, surroundings)}Accepted ${formatCount(accepted.length, 'definition')}.\n`)
  return EXIT.done
}

async function approveCall(id: string, options: ApproveOptions, surroundings: Surroundings): Promise<number> {
  const call = await withStore(options, surroundings, ({ approvals }) => approvals.approve(id))
  surroundings.stdout.write(
    options.json
      ? `${JSON.stringify({ approved: [toJson(call)] }, null, 2)}\n`
      : `Approved ${toLine(call.tool)} once, for ${describeCaller(call)}. The client must call it again.\n`,
  )
  return EXIT.done
}

/** `foldout deny`: refuses a waiting call. Returns the exit code. */
export async function deny(
  id: string | undefined,
  options: PolicyOptions,
  surroundings: Surroundings,
): Promise<number> {
  if (id === undefined) return listApprovals(options, surroundings)
  const call = await withStore(options, surroundings, ({ approvals }) => approvals.deny(id))
  surroundings.stdout.write(
    options.json
      ? `${JSON.stringify({ denied: [toJson(call)] }, null, 2)}\n`
      : `Denied ${toLine(call.tool)} for ${describeCaller(call)}. The same call is refused for ${APPROVAL_MS / 60_000} minutes.\n`,
  )
  return EXIT.done
}
