/**
 * The `_meta` key of a request for the idempotency key of a call: the same when the call is sent again, and unique
 * among calls.
 */
export const IDEMPOTENCY_KEY = 'foldout/idempotencyKey'

/** The prefix of the protocol's own `_meta` keys. */
export const PROTOCOL_PREFIX = 'io.modelcontextprotocol/'
/** The `_meta` key of a modern request for its client's capabilities. */
export const CLIENT_CAPABILITIES = `${PROTOCOL_PREFIX}clientCapabilities`
/** The `_meta` key of a modern request for the log level that its client wants. */
export const LOG_LEVEL = `${PROTOCOL_PREFIX}logLevel`
/** The extension with which a modern client declares that it can wait for tasks. */
export const TASKS = `${PROTOCOL_PREFIX}tasks`
/** The `_meta` key of a legacy message for the task that it belongs to. */
export const RELATED_TASK = `${PROTOCOL_PREFIX}related-task`
/** The `_meta` key of a meta tool's result for the error with which a server rejected the call. */
export const REFUSED_WITH = 'foldout/error'
/** The `_meta` key of a modern request for the version of the protocol that it uses. */
export const PROTOCOL_VERSION = `${PROTOCOL_PREFIX}protocolVersion`
/** The `_meta` key of a modern request for the program that sends it. */
export const CLIENT_INFO = `${PROTOCOL_PREFIX}clientInfo`
/** The `_meta` key of a modern result for the program that sends it. */
export const SERVER_INFO = `${PROTOCOL_PREFIX}serverInfo`
/** The `_meta` key of a modern notification for the subscription that it belongs to. */
export const SUBSCRIPTION_ID = `${PROTOCOL_PREFIX}subscriptionId`
