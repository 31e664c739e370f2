/** A folded result, as another gateway gets it. */
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
  /** Keeps a result under its handle. Of one that is too large, only where it is. */
  save(handle: string, owner: SharedOwner, result: SharedResult): Promise<void>
  /** A result of this owner that is still kept, which is kept for longer by this. */
  find(handle: string, owner: SharedOwner): Promise<SharedResult | DistantResult | undefined>
  /** Keeps a result for longer, which a gateway has read from its own copy. */
  renew(handle: string): Promise<void>
}

/** Whose a result is, on every gateway. */
export interface SharedOwner {
  readonly key: string
  /** Whether clients that cannot be told apart have this key. */
  readonly isShared: boolean
}
