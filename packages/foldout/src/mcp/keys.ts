/** Where a request's `_meta` has the key of a call: the same when the call is sent again, and no other call has it. */
export const IDEMPOTENCY_KEY = 'foldout/idempotencyKey'
