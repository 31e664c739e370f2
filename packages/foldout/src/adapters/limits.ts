/**
 * The longest wait before a failed request is retried, in milliseconds. If a provider asks for a longer wait, the
 * request fails.
 */
export const MAX_RETRY_WAIT_MS = 120_000

/** The maximum number of characters that an adapter reads from one reply: texts, reasoning and arguments together. */
export const MAX_REPLY_CHARACTERS = 32 * 1024 * 1024

/** The maximum number of events that an adapter reads from one streamed reply. */
export const MAX_REPLY_EVENTS = 2_000_000

/** How deep the arguments of a tool call may be nested. Deeper ones are not read, and the model gets an error. */
export const MAX_ARGUMENTS_DEPTH = 100

/** How deep a tool's schema may be nested in a request. Deeper parts are sent as a schema that allows anything. */
export const MAX_TOOL_SCHEMA_DEPTH = 64

/** How many values of a tool's schema are read for a request. Objects after them are sent as a schema that allows anything. */
export const MAX_TOOL_SCHEMA_VALUES = 50_000

/** How often in a row a provider may pause a reply before the reply is used as is. */
export const MAX_PAUSES = 20

/**
 * How many replies with rejected thinking the Anthropic adapter remembers. Beyond that, the oldest are forgotten and
 * will be rejected once more.
 */
export const MAX_REFUSED_THINKING = 10_000

/** How many characters of a server's error message are read to find the feature that it rejects. */
export const MAX_REFUSAL_CHARACTERS = 10_000
