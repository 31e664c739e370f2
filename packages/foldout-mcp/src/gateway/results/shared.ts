/** A folded result as other gateways read it. */
export interface SharedResult {
  readonly text: string
  readonly isJson: boolean
}

/** A folded result that only one gateway can read. */
export interface DistantResult {
  /** Which gateway has it, for people. */
  readonly keptBy: string
}

/** Folded results that every gateway with the same store can read. Only those who have a handle can read the result. */
export interface SharedResults {
  /** Stores a result under its handle. If the result is too large, stores only which gateway has it. */
  save(handle: string, owner: SharedOwner, result: SharedResult): Promise<void>
  /** Finds a result of this owner that is still kept, and extends its time. */
  find(handle: string, owner: SharedOwner): Promise<SharedResult | DistantResult | undefined>
  /** Extends the time of a result that a gateway has read from its own copy. */
  renew(handle: string): Promise<void>
}

/** The owner of a result, the same on every gateway. */
export interface SharedOwner {
  readonly key: string
  /** Whether clients that cannot be told apart have this key. */
  readonly isShared: boolean
  /** The user, who may have several clients; without a user, the client. Users get the same share of the space. */
  readonly user: string
}
