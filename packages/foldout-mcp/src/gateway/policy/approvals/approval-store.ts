/** A call that has to be approved. */
export interface UnapprovedCall {
  readonly id: string
  /** A hash of everything that the approval is bound to. */
  readonly binding: string
  readonly client?: string | undefined
  readonly user?: string | undefined
  readonly preset: string
  readonly tool: string
  /** As shown to a person. */
  readonly arguments: string
  readonly reason?: string | undefined
}

/** A call that waits for the user. */
export interface WaitingCall extends UnapprovedCall {
  readonly askedAt: string
  /** In milliseconds since 1970, by the clock of this machine. */
  readonly expiresAt: number
}

/** What a modern client needs to continue its call. */
export interface Round {
  readonly binding: string
  /** The server's state, if the call is approved and the server itself asks something. */
  readonly inner?: { readonly state: string | undefined } | undefined
}

/** The outcome of asking for an approval: the call waits, the user has denied it, too many wait already, or it could not be stored. */
export type Asked = 'waiting' | 'denied' | 'too-many' | 'not-noted'

/** Calls that wait for an approval from another process, and approvals that wait for their call. */
export interface ApprovalStore {
  /** Approvals apply to clients of gateways with the same scope. */
  readonly scope: string
  /**
   * Stores a waiting call. Has no effect if it already waits. The asker is the same for all callers that share a limit, and has 16
   * hexadecimal digits.
   */
  ask(call: UnapprovedCall, asker: string): Promise<Asked>
  /** Uses up an approval, if there is one. Of several simultaneous calls, one may run; if the store cannot be read, none may. */
  use(id: string, binding: string): Promise<boolean>
  /** The waiting calls, oldest first. */
  list(): Promise<readonly WaitingCall[]>
  /** Approves a waiting call, once. */
  approve(id: string): Promise<WaitingCall>
  /** Denies a waiting call. For a while, the same call is refused without asking again. */
  deny(id: string): Promise<WaitingCall>
  /** Keeps a round until the client returns with an answer. Returns its state; undefined if there is no room or it cannot be stored. */
  beginRound(round: Round, asker: string): Promise<string | undefined>
  /**
   * Takes the round of a state, once; undefined if there is none or it has expired.
   *
   * @throws Error if the store cannot be read now.
   */
  takeRound(state: string): Promise<Round | undefined>
}

/** The format of call ids. */
export const APPROVAL_ID = /^[0-9a-f]{16}$/

/** The prefix of round states. */
export const ROUND_STATE = 'foldout-approval-'

export function describeUnknown(id: string): string {
  return `No call with the id '${id}' is waiting for an approval. Run foldout approvals to list those that are.`
}

/** Leaves out what a waiting call is bound to, which is private. */
export function hideBinding<Call extends { readonly binding: string }>(waiting: Call): Omit<Call, 'binding'> {
  const { binding: _, ...call } = waiting
  return call
}
