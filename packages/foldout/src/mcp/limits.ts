const KIB = 1024
const MIB = 1024 * KIB
const SECOND = 1_000
const MINUTE = 60 * SECOND

/** The longest time that a timer can wait; with more it would not wait at all. */
export const MAX_TIMER_MS = 2 ** 31 - 1

// What a served client is given.

/** Tools, or sections, on one page of a list. Option `pageSize` of `serveMcp`. */
export const PAGE_SIZE = 1_000
/** Bytes of JSON on one page of a list, unless its first item alone is larger. */
export const PAGE_BYTES = 4 * MIB
/** How long a client from MCP 2026-07-28 on may keep a list. Option `cache.ttlMs` of `serveMcp`. */
export const LIST_TTL_MS = MINUTE
/**
 * Bytes of JSON in one message over stdio or a transport of your own. Clients of both official SDKs close the connection at
 * 10 MiB, counting what they have read of the next message. Option `maxResultBytes` of `serveMcp`.
 */
export const MAX_MESSAGE_BYTES = 10 * MIB - 256 * KIB
/** Bytes of JSON in one result over HTTP. Option `maxResultBytes` of `serveMcp`. */
export const MAX_HTTP_RESULT_BYTES = 64 * MIB
/** How deep a result may be nested. `JSON.stringify` fails at a few thousand levels. */
export const MAX_RESULT_DEPTH = 500
/** Progress reports of one call that are sent to a client within a second; of further ones only the latest is sent. */
export const PROGRESS_PER_SECOND = 64

// What a served client may ask for.

/** Bytes of one request over HTTP. Option `maxBodyBytes` of `serveMcp`. */
export const MAX_BODY_BYTES = 4 * MIB
/** Bytes of one request over stdio. A longer one is answered with an error. */
export const MAX_LINE_BYTES = 10 * MIB
/** Calls of one stdio client that run, or whose answers it has not read yet; further ones wait. Option `maxConcurrent` of `stdio`. */
export const STDIO_CONCURRENT = 64
/** Requests of one stdio client that wait to be run, before the server stops reading. */
export const STDIO_WAITING = 1_000
/** Bytes that wait to be read by a stdio client, before the server stops taking requests. */
export const STDIO_UNREAD_BYTES = 4 * MIB

/** Sessions of clients before MCP 2026-07-28 over HTTP. Option `sessions.max` of `serveMcp`. */
export const MAX_SESSIONS = 2_000
/** Sessions of one peer: a principal where there is `authorize`, otherwise an address. Option `sessions.perPeer` of `serveMcp`. */
export const SESSIONS_PER_PEER = 500
/** How long a call over HTTP may run before its client gets a stream of events in place of plain JSON. */
export const JSON_ANSWER_MS = SECOND
/** How long a session without requests and open streams lives. Option `sessions.idleMs` of `serveMcp`. */
export const SESSION_IDLE_MS = 30 * MINUTE
/** Bytes that a client may say of itself in `initialize` where its session is kept in a store. Longer ones are refused. */
export const MAX_KEPT_CLIENT_BYTES = 64 * KIB
/** Answers and notices of one client that wait for the machine that they are for. One more makes room by dropping the oldest. */
export const MAX_LETTERS = 16
/** Bytes of one of these. A longer answer is refused where it reaches another machine than the one that asked. */
export const MAX_LETTER_BYTES = MIB
/** Bytes of all of these together. More make room by dropping the oldest. */
export const MAX_LETTERS_BYTES = 2 * MIB
/** How often a machine looks for the answer to a question, which may reach another machine. */
export const LETTER_MS = 250
/** How often a machine looks for changes of a session while it has an open request or stream, unless it has many of them. */
export const FOLLOW_MS = SECOND
/** How many sessions a machine looks at in a second for that reason. With more of them it looks less often. */
export const FOLLOWED_PER_SECOND = 200
/** How long a session must have been idle before it may make room for another one. Option `sessions.keepMs` of `serveMcp`. */
export const SESSION_KEEP_MS = MINUTE
/** How long a client may take from `initialize` to its next request before its session may make room for another one. */
export const HANDSHAKE_MS = 30 * SECOND
/** Open event streams (`GET`, `subscriptions/listen`). Option `streams.max` of `serveMcp`. */
export const MAX_STREAMS = 2_000
/** Open event streams of one peer. Option `streams.perPeer` of `serveMcp`. */
export const STREAMS_PER_PEER = 500
/** Requests over HTTP that are being answered. */
export const MAX_REQUESTS = 16_000
/** Requests over HTTP of one peer that are being answered. */
export const REQUESTS_PER_PEER = 8_000
/** After how many seconds a client that was refused for a limit is told to come back. */
export const RETRY_AFTER_SECONDS = 5
/** Connections that wait to be accepted; the system may allow fewer. */
export const LISTEN_BACKLOG = 4_096
/**
 * How long a connection without a request stays open. A server that is busy for as long as this closes connections on which
 * requests are waiting, which their clients see as `fetch failed`.
 */
export const KEEP_ALIVE_MS = 2 * MINUTE

/** Resources that one request to listen may name; further ones are left out. */
export const MAX_WATCHED = 1_000

/** How long a client may take to answer a question that a tool asks it. People answer some of them. */
export const LONGEST_ANSWER_MS = 60 * MINUTE

// What an upstream server may do.

/** How long a call may go without an answer or progress. Option `timeoutMs` of `toolsFromMcp`. */
export const CALL_SILENCE_MS = 10 * MINUTE
/** How long a call may take, whatever progress it reports. Option `maxCallMs` of `toolsFromMcp`. */
export const CALL_MS = 60 * MINUTE
/** The time between two questions for the state of a task, if its server says nothing else. */
export const POLL_MS = SECOND
/** The least time between two questions for the state of a task, whatever its server says. */
export const SHORTEST_POLL_MS = 50
/** The most time between them. */
export const LONGEST_POLL_MS = 30 * SECOND
/** How long a page of a tool list may take. */
export const LIST_TIMEOUT_MS = MINUTE
/** Tools of one server. Option `maxTools` of `toolsFromMcp`. */
export const MAX_TOOLS = 10_000
/** Pages of one tool list. */
export const MAX_PAGES = 1_000
/** How deep a tool definition, or an answer, of a server may be nested. */
export const MAX_DEPTH = 200
/** Characters of what a server adds to an error message that are passed on. */
export const ERROR_DATA_CHARACTERS = 1_000
/** Characters of each text in a result that says it is an error. */
export const ERROR_RESULT_CHARACTERS = 100_000
/** Characters of the message of a progress report that are passed on. */
export const PROGRESS_CHARACTERS = 1_000
/** The time between two requests for a list whose server keeps saying that it changed. The first few come sooner. */
export const RELIST_MS = SECOND

/** Characters of a request's id, or of a key that a client sends with a call, that tools get as the call's. Longer ones are replaced. */
export const MAX_CALL_KEY = 256
