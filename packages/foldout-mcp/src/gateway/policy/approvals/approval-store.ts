/** A call that has to be approved. */
export interface UnapprovedCall {
  readonly id: string
  /** Everything that the approval is bound to, as a hash. */
  readonly binding: string
  readonly client?: string | undefined
  readonly user?: string | undefined
  readonly preset: string
  readonly tool: string
  /** As a person is shown them. */
  readonly arguments: string
  readonly reason?: string | undefined
}

/** A call that waits for the user. */
export interface WaitingCall extends UnapprovedCall {
  readonly askedAt: string
  /** In milliseconds since 1970, by the clock of this machine. */
  readonly expiresAt: number
}

/** What a modern client was given to go on with. */
export interface Round {
  readonly binding: string
  /** The state of the server, if the call was approved and the server itself asks something. */
  readonly inner?: { readonly state: string | undefined } | undefined
}

/** What came of asking for an approval: the call waits, the user has denied it, or it could not be noted. */
export type Asked = 'waiting' | 'denied' | 'not-noted'

/** Calls that wait for an approval in another process, and approvals that wait for their call. */
export interface ApprovalStore {
  /** Approvals hold for clients of gateways with the same scope. */
  readonly scope: string
  /** Notes a call. If it waits already, that is the same. */
  ask(call: UnapprovedCall): Promise<Asked>
  /** Uses an approval, if there is one. Of several calls at once, one may run. If that cannot be found out, none may. */
  use(id: string, binding: string): Promise<boolean>
  /** The calls that wait, the oldest first. */
  list(): Promise<readonly WaitingCall[]>
  /** Approves a call that waits, once. */
  approve(id: string): Promise<WaitingCall>
  /** Denies a call that waits. For a while, the same call is refused without asking again. */
  deny(id: string): Promise<WaitingCall>
  /** Keeps a round until the client comes back with an answer. Returns its state; undefined if there is no room or it cannot be kept. */
  beginRound(round: Round): Promise<string | undefined>
  /**
   * The round of a state, once; undefined if there is none, or it has expired.
   *
   * @throws Error if that cannot be found out now.
   */
  takeRound(state: string): Promise<Round | undefined>
}

/** What ids of calls look like. */
export const APPROVAL_ID = /^[0-9a-f]{16}$/

/** What the states of rounds begin with. */
export const ROUND_STATE = 'foldout-approval-'

export function describeUnknown(id: string): string {
  return `No call with the id '${id}' waits for an approval. foldout approvals lists those that do.`
}
