/** Where a request's `_meta` has the key of a call: the same when the call is sent again, and no other call has it. */
export const IDEMPOTENCY_KEY = 'foldout/idempotencyKey'

/** Keys of `_meta` that begin with it are the protocol's own. */
export const PROTOCOL_PREFIX = 'io.modelcontextprotocol/'
/** Where a modern request has what its client can do. */
export const CLIENT_CAPABILITIES = `${PROTOCOL_PREFIX}clientCapabilities`
/** Where a modern request has the least severe logs that its client wants. */
export const LOG_LEVEL = `${PROTOCOL_PREFIX}logLevel`
/** The extension by which a modern client says that it can wait for tasks. */
export const TASKS = `${PROTOCOL_PREFIX}tasks`
/** Where the result of a meta tool has the error that a server refused the call with. */
export const REFUSED_WITH = 'foldout/error'
