import type { CallTarget, ToolAnnotations } from '../../tools/tool.ts'

/**
 * A call that waits for a person. It is plain JSON: show it, store it, and send back an {@link ApprovalAnswer}.
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
  /** The arguments as the model wrote them. */
  readonly arguments: unknown
  /** For a tool that runs other tools, such as `use_tool`: the tool that would run, with its arguments. */
  readonly target?: CallTarget
  /** Why a person is asked; empty if no reason was given. */
  readonly reason: string
  /** The path of the section that the tool comes from. */
  readonly section?: string
  /** The section whose agent makes the call, if it is not a call of the run itself. */
  readonly delegate?: string
  readonly askedAt: string
  /** The time after which it can no longer be approved. Absent if there is no limit. */
  readonly expiresAt?: string
  /** A hash of this request, the conversation and the tool's definition. An answer repeats it. */
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
  /** The digest of the request, which identifies the exact call that the person saw. */
  readonly digest: string
  readonly approved: boolean
  /** The reason that the model reads if the call was not approved. */
  readonly reason?: string
}

/**
 * A call as a run's `needsApproval` option sees it.
 *
 * @example
 * ```ts
 * const needsApproval = ({ annotations }: ApprovalCall): boolean => annotations?.destructiveHint === true
 * ```
 */
export interface ApprovalCall {
  readonly callId: string
  /** The tool that would run: for a catalog's tool, its qualified name, even if the model calls `use_tool`. */
  readonly tool: string
  readonly arguments: unknown
  /** The tool's hints about itself, as in MCP. */
  readonly annotations: ToolAnnotations | undefined
  /** The path of the section that the called tool comes from. */
  readonly section: string | undefined
}

/**
 * A request in the state of a run, with its answer once there is one.
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
 * A call that has begun. While it has no result, it is unknown whether it took effect.
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
