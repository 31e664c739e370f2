import { UsageError } from '../../gateway/config/config.ts'
import type { GatewayStore } from '../../gateway/store/contract/gateway-store.ts'
import type { StoreSettings } from '../../gateway/store/open.ts'
import { EXIT } from '../support/exit-codes.ts'
import { describeCaller } from '../policy/approvals.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { withStore } from '../support/store.ts'
import { toLine } from '../support/text.ts'
import { openRunsAt } from './view.ts'
import type { StoreOptions } from '../support/store.ts'

/** Options of `foldout fleet approve` and `deny`. */
export interface AnswerOptions extends StoreOptions {
  readonly json?: boolean
  readonly reason?: string
}

/** `foldout fleet approve` and `deny`: decides exactly one call, of a run or of a gateway's client. Returns the exit code. */
export async function answerCall(
  id: string,
  isApproved: boolean,
  options: AnswerOptions,
  surroundings: Surroundings,
): Promise<number> {
  const answered = await withStore(options, surroundings, async (store, _config, settings) =>
    id.includes('#') ? answerRun(id, isApproved, options, settings) : answerGateway(id, isApproved, store),
  )
  const verb = isApproved ? 'Approved' : 'Denied'
  surroundings.stdout.write(
    options.json
      ? `${JSON.stringify({ id, approved: isApproved, tool: answered.tool }, null, 2)}\n`
      : `${verb} ${toLine(answered.tool)} once, for ${answered.caller}.${answered.next}\n`,
  )
  return EXIT.done
}

interface Answered {
  readonly tool: string
  readonly caller: string
  /** A sentence about what happens next. */
  readonly next: string
}

async function answerGateway(id: string, isApproved: boolean, { approvals }: GatewayStore): Promise<Answered> {
  const call = await (isApproved ? approvals.approve(id) : approvals.deny(id))
  return { tool: call.tool, caller: describeCaller(call), next: isApproved ? ' The client must call it again.' : '' }
}

async function answerRun(
  id: string,
  approved: boolean,
  { reason }: AnswerOptions,
  settings: StoreSettings | undefined,
): Promise<Answered> {
  if (!settings) throw new UsageError(`'${toLine(id)}' is a call of a run. Name its database with --store postgres://…`)
  const fleet = await openRunsAt(settings)
  try {
    const { run, request } = await fleet.answer(id, { approved, ...(reason !== undefined && { reason }) })
    return { tool: request.tool, caller: `the run ${toLine(`${run.kind}/${run.id}`)}`, next: ' The run continues.' }
  } catch (error) {
    const isUnknown = error instanceof Error && 'code' in error && error.code === 'approval-unknown'
    if (isUnknown) throw new UsageError(error.message)
    throw error
  } finally {
    await fleet.close()
  }
}
