/**
 * The longest wait before a failed request is retried, in milliseconds. If a provider asks for a longer wait, the
 * request fails.
 */
export const MAX_RETRY_WAIT_MS = 120_000

/** The maximum number of characters that an adapter reads from one reply: texts, reasoning and arguments together. */
export const MAX_REPLY_CHARACTERS = 32 * 1024 * 1024

/** The maximum number of events that an adapter reads from one streamed reply. */
export const MAX_REPLY_EVENTS = 2_000_000

/** How deeply the arguments of a tool call may be nested. Deeper arguments are not parsed, and the model is told. */
export const MAX_ARGUMENTS_DEPTH = 100

/** How many characters of a tool's name are kept as the model wrote it, if no tool can have that name. */
export const MAX_WRITTEN_NAME_CHARACTERS = 200

/** How many characters the id of a call may have. Servers that keep data of their own in ids need a few thousand. */
export const MAX_CALL_ID_CHARACTERS = 16_384

/** How deeply a tool's schema may be nested in a request. Deeper parts are sent as a schema that allows anything. */
export const MAX_TOOL_SCHEMA_DEPTH = 64

/** How many values of a tool's schema are read for a request. Objects after them are sent as a schema that allows anything. */
export const MAX_TOOL_SCHEMA_VALUES = 50_000

/** How many times in a row a provider may pause a reply before the reply is used unfinished. */
export const MAX_PAUSES = 20

/**
 * How many replies whose thinking was rejected the Anthropic adapter remembers. The oldest are forgotten, and are rejected
 * once more.
 */
export const MAX_REFUSED_THINKING = 10_000

/** How many characters of a server's error text are read to find out which feature it rejects. */
export const MAX_REFUSAL_CHARACTERS = 10_000
