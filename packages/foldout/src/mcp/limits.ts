const KIB = 1024
const MIB = 1024 * KIB
const SECOND = 1_000
const MINUTE = 60 * SECOND

/** The longest time that a timer can wait; with a longer one, it would not wait at all. */
export const MAX_TIMER_MS = 2 ** 31 - 1

// Limits on what a served client receives.

/** The maximum number of tools or sections on one page of a list. Option `pageSize` of `serveMcp`. */
export const PAGE_SIZE = 1_000
/** The maximum number of bytes of JSON on one page of a list, unless its first item alone is larger. */
export const PAGE_BYTES = 4 * MIB
/** How long a client of MCP 2026-07-28 or later may keep a list. Option `cache.ttlMs` of `serveMcp`. */
export const LIST_TTL_MS = MINUTE
/**
 * The maximum number of bytes of JSON in one message over stdio or your own transport. Clients of both official SDKs
 * close the connection at 10 MiB, including the part of the next message that they have read. Option `maxResultBytes`
 * of `serveMcp`.
 */
export const MAX_MESSAGE_BYTES = 10 * MIB - 256 * KIB
/** The maximum number of bytes of JSON in one result over HTTP. Option `maxResultBytes` of `serveMcp`. */
export const MAX_HTTP_RESULT_BYTES = 64 * MIB
/** How deep a result may be nested. `JSON.stringify` fails at a few thousand levels. */
export const MAX_RESULT_DEPTH = 500
/**
 * The maximum number of progress reports of one call that are sent to a client within a second; of further reports,
 * only the latest is sent.
 */
export const PROGRESS_PER_SECOND = 64

// Limits on what a served client may request.

/** The maximum number of bytes of one request over HTTP. Option `maxBodyBytes` of `serveMcp`. */
export const MAX_BODY_BYTES = 4 * MIB
/** The maximum number of bytes of one request over stdio. A longer one is answered with an error. */
export const MAX_LINE_BYTES = 10 * MIB
/**
 * The maximum number of calls of one stdio client that run, or whose answers it has not read yet; further ones wait.
 * Option `maxConcurrent` of `stdio`.
 */
export const STDIO_CONCURRENT = 64
/** How many requests of one stdio client may wait to be run before the server stops reading. */
export const STDIO_WAITING = 1_000
/** How many bytes may wait to be read by a stdio client before the server stops accepting requests. */
export const STDIO_UNREAD_BYTES = 4 * MIB

/** The maximum number of sessions of clients before MCP 2026-07-28 over HTTP. Option `sessions.max` of `serveMcp`. */
export const MAX_SESSIONS = 2_000
/**
 * The maximum number of sessions of one peer: a principal if there is `authorize`, otherwise an address. Option
 * `sessions.perPeer` of `serveMcp`.
 */
export const SESSIONS_PER_PEER = 500
/** How long a call over HTTP may run before its client gets an event stream instead of plain JSON. */
export const JSON_ANSWER_MS = SECOND
/** How long a session without requests or open streams lives. Option `sessions.idleMs` of `serveMcp`. */
export const SESSION_IDLE_MS = 30 * MINUTE
/**
 * The maximum number of bytes of a client's `initialize` if its session is kept in a store. A longer one is rejected.
 */
export const MAX_KEPT_CLIENT_BYTES = 64 * KIB
/** How many answers and notices of one client may wait for another machine. Beyond that, the oldest is dropped. */
export const MAX_LETTERS = 16
/**
 * The maximum number of bytes of one such message. A longer answer is rejected if it reaches a machine other than the
 * one that asked.
 */
export const MAX_LETTER_BYTES = MIB
/** The maximum number of bytes of all such messages of one client. Beyond that, the oldest are dropped. */
export const MAX_LETTERS_BYTES = 2 * MIB
/** How often a machine checks for the answer to a question, which may reach another machine. */
export const LETTER_MS = 250
/**
 * How often a machine checks a session for changes while it has an open request or stream, unless there are many such
 * sessions.
 */
export const FOLLOW_MS = SECOND
/**
 * How many sessions a machine checks in a second for that reason. With more sessions, it checks each one less often.
 */
export const FOLLOWED_PER_SECOND = 200
/** How long a session must have been idle before it may make room for another one. Option `sessions.keepMs` of `serveMcp`. */
export const SESSION_KEEP_MS = MINUTE
/** How long a client may take from `initialize` to its next request before its session may make room for another one. */
export const HANDSHAKE_MS = 30 * SECOND
/** The maximum number of open event streams (`GET`, `subscriptions/listen`). Option `streams.max` of `serveMcp`. */
export const MAX_STREAMS = 2_000
/** The maximum number of open event streams of one peer. Option `streams.perPeer` of `serveMcp`. */
export const STREAMS_PER_PEER = 500
/** The maximum number of HTTP requests that are answered at the same time. */
export const MAX_REQUESTS = 16_000
/** The maximum number of HTTP requests of one peer that are answered at the same time. */
export const REQUESTS_PER_PEER = 8_000
/** The number of seconds after which a client that was rejected because of a limit may try again. */
export const RETRY_AFTER_SECONDS = 5
/** The maximum number of connections that wait to be accepted; the system may allow fewer. */
export const LISTEN_BACKLOG = 4_096
/**
 * How long a connection without a request stays open. A server that is busy for this long closes connections with
 * waiting requests, which clients see as `fetch failed`.
 */
export const KEEP_ALIVE_MS = 2 * MINUTE

/** The maximum number of resources in one request to listen; further ones are left out. */
export const MAX_WATCHED = 1_000

/** How long a client may take to answer a question from a tool. People answer some of them. */
export const LONGEST_ANSWER_MS = 60 * MINUTE

// Limits on what an upstream server may do.

/** How long a call may go without an answer or progress. Option `timeoutMs` of `toolsFromMcp`. */
export const CALL_SILENCE_MS = 10 * MINUTE
/** How long a call may take, whatever progress it reports. Option `maxCallMs` of `toolsFromMcp`. */
export const CALL_MS = 60 * MINUTE
/** The time between two polls of a task's state, if its server does not set another. */
export const POLL_MS = SECOND
/** The minimum time between two polls of a task's state, whatever its server sets. */
export const SHORTEST_POLL_MS = 50
/** The maximum time between two polls of a task's state. */
export const LONGEST_POLL_MS = 30 * SECOND
/** How long a page of a tool list may take. */
export const LIST_TIMEOUT_MS = MINUTE
/** The maximum number of tools of one server. Option `maxTools` of `toolsFromMcp`. */
export const MAX_TOOLS = 10_000
/** The maximum number of pages of one tool list. */
export const MAX_PAGES = 1_000
/** How deep a tool definition, or an answer, of a server may be nested. */
export const MAX_DEPTH = 200
/** The maximum number of characters of a server's error data that are passed on. */
export const ERROR_DATA_CHARACTERS = 1_000
/** The maximum number of characters of each text in a failed result. */
export const ERROR_RESULT_CHARACTERS = 100_000
/** The maximum number of characters of a progress message that are passed on. */
export const PROGRESS_CHARACTERS = 1_000
/** The time between two requests for a list whose server keeps announcing changes. The first few come sooner. */
export const RELIST_MS = SECOND

/**
 * The maximum number of characters of a request's id, or of a client's key for a call, that tools receive. Longer ones
 * are replaced.
 */
export const MAX_CALL_KEY = 256
