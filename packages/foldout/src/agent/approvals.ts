import type { CallTarget, ToolAnnotations } from '../tools/tool.ts'

/**
 * A call that waits for a person. Plain JSON: show it, store it, and send back an {@link ApprovalAnswer}.
 *
 * @example
 * ```ts
 * const describe = ({ tool, arguments: args, reason }: ApprovalRequest): string => `${tool} ${JSON.stringify(args)} (${reason})`
 * ```
 */
export interface ApprovalRequest {
  readonly callId: string
  /** The tool that the model called. */
  readonly tool: string
  /** The arguments as the model gave them. */
  readonly arguments: unknown
  /** For a tool that runs others, such as `use_tool`: the one that would run in the end, and what it would get. */
  readonly target?: CallTarget
  /** Why a person is asked; empty if no reason was given. */
  readonly reason: string
  /** The path of the section that the tool comes from. */
  readonly section?: string
  readonly askedAt: string
  /** When it can no longer be approved. Absent if it can at any time. */
  readonly expiresAt?: string
  /** A hash of all of this, of the conversation and of the tool's definition. An answer repeats it. */
  readonly digest: string
}

/**
 * A person's answer to an {@link ApprovalRequest}.
 *
 * @example
 * ```ts
 * const approve = (request: ApprovalRequest): ApprovalAnswer => ({ ...request, approved: true })
 * ```
 */
export interface ApprovalAnswer {
  readonly callId: string
  /** The digest of the request: it says exactly which call was looked at. */
  readonly digest: string
  readonly approved: boolean
  /** What the model reads if the call was not approved. */
  readonly reason?: string
}

/**
 * A call as the option `needsApproval` of a run sees it.
 *
 * @example
 * ```ts
 * const needsApproval = ({ annotations }: ApprovalCall): boolean => annotations?.destructiveHint === true
 * ```
 */
export interface ApprovalCall {
  readonly callId: string
  /** The tool that runs in the end: for a catalog's tool its qualified name, also where the model calls `use_tool`. */
  readonly tool: string
  readonly arguments: unknown
  /** What the tool says about itself, as MCP servers do. */
  readonly annotations: ToolAnnotations | undefined
  /** The path of the section that the called tool comes from. */
  readonly section: string | undefined
}

/**
 * A request in the state of a run, with its answer as soon as there is one.
 *
 * @example
 * ```ts
 * const isOpen = ({ answer }: HeldApproval): boolean => answer === undefined
 * ```
 */
export interface HeldApproval extends ApprovalRequest {
  readonly answer?: Pick<ApprovalAnswer, 'approved' | 'reason'>
}

/**
 * A call that has begun. As long as it has no result, it is not known whether it took effect.
 *
 * @example
 * ```ts
 * const inFlight: readonly RunningCall[] = session.get(agentRun).calling
 * ```
 */
export interface RunningCall {
  readonly callId: string
  readonly tool: string
  /** A hash of the tool's name and the arguments. */
  readonly digest: string
}
