import type { CallClient, CallContext, CallResult } from 'foldout/catalog'
import { dropUndefined, isObject } from 'foldout-shared/values'
import { ROUND_STATE, type ApprovalStore, type Round } from './approval-store.ts'
import { hashJson } from '../../../shared/hash.ts'
import { APPROVAL_MS, MAX_ROUND_CHARACTERS } from './limits.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { showInvisible } from '../../../shared/visible.ts'
import { showArguments } from './show-arguments.ts'
import { createErrorResult } from '../../../shared/errors.ts'

/** A call that the user has to approve. */
export interface ApprovalRequest {
  readonly preset: string
  /** `server/tool`. */
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly reason: string | undefined
  /** The hash of the tool's current definition; undefined if the tool is gone. */
  getDefinition(): string | undefined
}

/** Runs the call once it is approved. */
export type RunApproved = (context: CallContext) => Promise<CallResult>

/** Gets calls approved. Each approval is for one call by one client of exactly this tool with exactly these arguments. */
export interface Approvals {
  /** Runs a call if it is approved. Otherwise the result asks for approval, or says how to give it. */
  run(request: ApprovalRequest, context: CallContext, run: RunApproved): Promise<CallResult>
}

/** The name of the question, which modern clients send back with the answer. */
const QUESTION = 'approval'

export function createApprovals(store: ApprovalStore, secrets: Secrets): Approvals {
  return new CallApprovals(store, secrets)
}

class CallApprovals implements Approvals {
  readonly #store: ApprovalStore
  readonly #secrets: Secrets

  constructor(store: ApprovalStore, secrets: Secrets) {
    this.#store = store
    this.#secrets = secrets
  }

  async run(request: ApprovalRequest, context: CallContext, run: RunApproved): Promise<CallResult> {
    const definition = request.getDefinition()
    const { peer, client } = context
    const caller = client ? identifyCaller(this.#store.scope, client) : []
    const binding = bind([caller, request.preset, request.tool, request.arguments, definition])
    if (binding === undefined) return refuse(request, 'its arguments are nested too deeply to show to the user.')
    const round = await this.#takeRound(peer?.input?.state)
    if (round === 'unknown') return refuse(request, CANNOT_CHECK)
    if (round) return this.#resume(round, binding, request, context, run)
    if (await this.#store.use(getId(binding), binding)) return this.#finish(binding, withInput(context, undefined), run)
    if (!canAsk(context)) return this.#noteForUser(binding, request, context)
    if (peer?.era === 'modern') return this.#askModern(binding, request, context)
    const question = createQuestion(request, context, this.#secrets)
    if (!question) return refuse(request, TOO_MANY)
    const isApproved = await this.#askLegacy(question, context)
    if (isApproved === undefined) return this.#noteForUser(binding, request, context)
    if (!isApproved) return refuse(request, NOT_APPROVED)
    if (request.getDefinition() !== definition)
      return refuse(request, 'its definition has changed since the user was asked.')
    return this.#finish(binding, context, run)
  }

  /** Continues after a modern client's answer: to the approval, or to a question of the approved call's server. */
  async #resume(
    { inner, ...round }: Round,
    binding: string,
    request: ApprovalRequest,
    context: CallContext,
    run: RunApproved,
  ): Promise<CallResult> {
    const responses = context.peer?.input?.responses ?? {}
    if (round.binding !== binding) return refuse(request, 'the approval was for another call.')
    if (inner) return this.#finish(binding, withInput(context, { responses, state: inner.state }), run)
    if (!isAccepted(responses[QUESTION])) return refuse(request, NOT_APPROVED)
    return this.#finish(binding, withInput(context, undefined), run)
  }

  /** Runs an approved call. If its server asks something, the state records that the call is approved. */
  async #finish(binding: string, context: CallContext, run: RunApproved): Promise<CallResult> {
    const result = await run(context)
    if (result['resultType'] !== 'input_required') return result
    const { requestState: given } = result
    const inner = { state: typeof given === 'string' ? given : undefined }
    if ((inner.state?.length ?? 0) > MAX_ROUND_CHARACTERS) return BUSY
    const requestState = await this.#store.beginRound({ binding, inner }, identifyAsker(context))
    if (requestState === undefined) return BUSY
    return { ...result, requestState }
  }

  /** Takes a state of ours, which counts once. Any other state belongs to the server. */
  async #takeRound(state: string | undefined): Promise<Round | 'unknown' | undefined> {
    if (!state?.startsWith(ROUND_STATE)) return undefined
    return this.#store.takeRound(state).catch(() => 'unknown' as const)
  }

  async #askModern(binding: string, request: ApprovalRequest, context: CallContext): Promise<CallResult> {
    const params = createQuestion(request, context, this.#secrets)
    if (!params) return refuse(request, TOO_MANY)
    const requestState = await this.#store.beginRound({ binding }, identifyAsker(context))
    if (requestState === undefined) return BUSY
    return {
      resultType: 'input_required',
      inputRequests: { [QUESTION]: { method: 'elicitation/create', params } },
      requestState,
      content: [],
    }
  }

  /** Asks a client and waits for its answer; undefined if the client could not be asked. */
  async #askLegacy(question: Question, context: CallContext): Promise<boolean | undefined> {
    const signals = [AbortSignal.timeout(APPROVAL_MS), ...(context.signal ? [context.signal] : [])]
    try {
      return isAccepted(await context.peer?.ask?.('elicitation/create', question, AbortSignal.any(signals)))
    } catch {
      context.signal?.throwIfAborted()
      return undefined
    }
  }

  async #noteForUser(binding: string, request: ApprovalRequest, context: CallContext): Promise<CallResult> {
    const id = getId(binding)
    const { client } = context
    const name = client?.name
    const { preset, tool, reason } = request
    const shown = showArguments(request.arguments, this.#secrets)
    if (shown === undefined) return refuse(request, TOO_MANY)
    const call = {
      id,
      binding,
      ...dropUndefined({ client: name && showInvisible(this.#secrets.hide(name)), user: client?.principal }),
      preset,
      tool,
      arguments: shown,
      ...dropUndefined({ reason }),
    }
    const asked = await this.#store.ask(call, identifyAsker(context))
    const because = reason === undefined ? '' : ` ${reason}`
    if (asked === 'denied') return refuse(request, NOT_APPROVED)
    if (asked === 'too-many')
      return refuse(request, `the user has to approve it, and too many calls wait for an approval already.${because}`)
    if (asked === 'not-noted')
      return refuse(request, `the user has to approve it, and the request cannot be stored now.${because}`)
    return refuse(
      request,
      `the user has to approve it.${because} Ask the user to run "foldout approve --call ${id}" within ${APPROVAL_MS / 60_000} minutes, then call the tool again with the same arguments. A rule in the gateway's configuration can allow it permanently.`,
    )
  }
}

const NOT_APPROVED = 'the user did not approve it.'
const TOO_MANY =
  'the user has to approve it, and its arguments have too many parts to show. Call it with fewer arguments at a time.'
const CANNOT_CHECK = 'the gateway cannot check now whether the user approved it. Send the answer again later.'
const BUSY = createErrorResult(
  'The user cannot be asked now: too many calls are waiting for answers, or the question cannot be stored. Try again later.',
)

/**
 * Identifies the caller: a connection, or all requests without a connection that identify themselves the same way. It is the same
 * for every gateway in a scope.
 */
function identifyCaller(scope: string, { connection, name, version, principal }: CallClient): readonly unknown[] {
  return [scope, connection, name, version, principal]
}

/** Identifies who shares a limit: a user, or else a connection or, without one, clients of one name. */
function identifyAsker({ client }: CallContext): string {
  const { principal, connection, name } = client ?? {}
  return hashJson(principal === undefined ? [connection ?? name ?? null] : { principal }).slice(0, 16)
}

function getId(binding: string): string {
  return binding.slice(0, 16)
}

function bind(parts: readonly unknown[]): string | undefined {
  try {
    return hashJson(parts)
  } catch {
    return undefined
  }
}

/** Whether the user can be asked through the client. */
function canAsk({ peer }: CallContext): boolean {
  const elicitation = peer?.capabilities['elicitation']
  if (!peer || !isObject(elicitation)) return false
  // Clients that declare elicitation without details can show forms.
  const hasForms = Object.keys(elicitation).length === 0 || 'form' in elicitation
  return hasForms && (peer.era === 'modern' || peer.ask !== undefined)
}

function isAccepted(answer: unknown): boolean {
  return isObject(answer) && answer['action'] === 'accept'
}

function withInput(context: CallContext, input: NonNullable<CallContext['peer']>['input']): CallContext {
  if (!context.peer) return context
  const { input: _, ...peer } = context.peer
  return { ...context, peer: input ? { ...peer, input } : peer }
}

type Question = Readonly<Record<string, unknown>>

/** A question that the user answers by accepting it; undefined if the arguments cannot be shown. */
function createQuestion(request: ApprovalRequest, { client }: CallContext, secrets: Secrets): Question | undefined {
  const { tool, reason, arguments: args } = request
  const shown = showArguments(args, secrets)
  if (shown === undefined) return undefined
  const who = client?.name === undefined ? 'A client' : `The client '${showInvisible(client.name).slice(0, 100)}'`
  const lines = [
    `${who} wants to call ${showInvisible(tool)} once, with these arguments:`,
    shown,
    ...(reason === undefined ? [] : [reason]),
  ]
  return { message: lines.join('\n\n'), requestedSchema: { type: 'object', properties: {} } }
}

function refuse({ tool }: ApprovalRequest, why: string): CallResult {
  return createErrorResult(`Tool '${showInvisible(tool)}' was not run: ${why}`)
}
