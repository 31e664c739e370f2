const KIB = 1024
const MIB = 1024 * KIB
const SECOND = 1_000
const MINUTE = 60 * SECOND

/** The longest time that a timer can wait. With a longer time, it would not wait at all. */
export const MAX_TIMER_MS = 2 ** 31 - 1

// Limits on what a served client receives.

/** How many tools or sections one page of a list has. Option `pageSize` of `serveMcp`. */
export const PAGE_SIZE = 1_000
/** How many bytes of JSON one page of a list has, unless its first item alone is larger. */
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
/** How deeply a result may be nested. `JSON.stringify` fails at a few thousand levels. */
export const MAX_RESULT_DEPTH = 500
/** How deeply the parameters of a client's request may be nested. A deeper request is refused. */
export const MAX_REQUEST_DEPTH = 500
/**
 * How many progress reports of one call are sent to a client per second. Of further reports, only the latest is sent.
 */
export const PROGRESS_PER_SECOND = 64

// Limits on what a served client may request.

/** The maximum number of bytes of one request over HTTP. Option `maxBodyBytes` of `serveMcp`. */
export const MAX_BODY_BYTES = 4 * MIB
/** The longest request over stdio, in bytes. A longer one is answered with an error. */
export const MAX_LINE_BYTES = 10 * MIB
/**
 * How many calls of one stdio client run, or have an answer that it has not read yet. Further calls wait. Option
 * `maxConcurrent` of `stdio`.
 */
export const STDIO_CONCURRENT = 64
/** How many requests of one stdio client may wait before the server stops reading. */
export const STDIO_WAITING = 1_000
/**
 * How many bytes a stdio client may leave unread before the server stops taking requests, and leaves out logs, progress
 * reports and repeated notifications.
 */
export const STDIO_UNREAD_BYTES = 4 * MIB
/** How many characters of answers to a batch (MCP 2025-03-26) are sent together over stdio. More are sent in several parts. */
export const STDIO_BATCH_CHARACTERS = MIB
/** How many bytes a stdio client may leave unread before the server leaves out all notifications. */
export const STDIO_MOST_UNREAD_BYTES = 16 * MIB

/** The maximum number of sessions of clients before MCP 2026-07-28 over HTTP. Option `sessions.max` of `serveMcp`. */
export const MAX_SESSIONS = 2_000
/**
 * The maximum number of sessions of one peer: a principal if there is `authorize`, otherwise an address. Option
 * `sessions.perPeer` of `serveMcp`.
 */
export const SESSIONS_PER_PEER = 500
/** How long a call over HTTP may run before its client gets an event stream instead of plain JSON. */
export const JSON_ANSWER_MS = SECOND
/** How long a session lives without requests and open streams. Option `sessions.idleMs` of `serveMcp`. */
export const SESSION_IDLE_MS = 30 * MINUTE
/** How many bytes a client may send about itself in `initialize` over HTTP, where each session keeps them. More is refused. */
export const MAX_CLIENT_BYTES = 64 * KIB
/** How many answers and notices of one client may wait for the machine they are for. One more removes the oldest. */
export const MAX_LETTERS = 16
/**
 * How many bytes one of these may have. A longer answer is refused if it reaches a machine other than the one that asked.
 */
export const MAX_LETTER_BYTES = MIB
/** How many bytes all of these may have together. More remove the oldest. */
export const MAX_LETTERS_BYTES = 2 * MIB
/** How often a machine checks for the answer to its question, which may reach another machine. */
export const LETTER_MS = 250
/**
 * How often a machine checks for changes of a session while it has an open request or stream, unless it has many of them.
 */
export const FOLLOW_MS = SECOND
/** How many sessions a machine checks per second for that reason. With more sessions, it checks each less often. */
export const FOLLOWED_PER_SECOND = 200
/** How long a session must have been idle before it may make room for another one. Option `sessions.keepMs` of `serveMcp`. */
export const SESSION_KEEP_MS = MINUTE
/** How long a client may take from `initialize` to its next request before its session may make room for another one. */
export const HANDSHAKE_MS = 30 * SECOND
/** The maximum number of open event streams (`GET`, `subscriptions/listen`). Option `streams.max` of `serveMcp`. */
export const MAX_STREAMS = 2_000
/** The maximum number of open event streams of one peer. Option `streams.perPeer` of `serveMcp`. */
export const STREAMS_PER_PEER = 500
/** A legacy client's event stream with more unread bytes is closed. The client may open another one. */
export const MAX_UNREAD_EVENT_BYTES = 4 * MIB
/** How often something is sent on an event stream without messages, so that proxies do not close it. */
export const EVENT_KEEP_ALIVE_MS = 15 * SECOND
/** How many messages one request over HTTP may have (MCP 2025-03-26). */
export const MAX_HTTP_BATCH = 100
/** How many requests over HTTP are answered at a time. */
export const MAX_REQUESTS = 16_000
/** How many requests over HTTP of one peer are answered at a time. */
export const REQUESTS_PER_PEER = 8_000
/** After how many seconds a client that was refused because of a limit is told to try again. */
export const RETRY_AFTER_SECONDS = 5
/** How many connections may wait to be accepted. The system may allow fewer. */
export const LISTEN_BACKLOG = 4_096
/**
 * How long a connection without a request stays open. A server that is busy for this long closes connections with
 * waiting requests, which clients see as `fetch failed`.
 */
export const KEEP_ALIVE_MS = 2 * MINUTE

/** How many requests to listen one modern client with its own connection may have open. */
export const MAX_SUBSCRIPTIONS = 1_024
/** How many resources one request to listen may name. Further ones are left out. */
export const MAX_WATCHED = 1_000

/** How long a client may take to answer a question of a tool. People answer some of these questions. */
export const LONGEST_ANSWER_MS = 60 * MINUTE

/** How many questions that belong to none of its requests a client may have to answer at a time. Further ones are rejected. */
export const MAX_QUESTIONS = 64

/** How long a client may have no connection before the questions that it was asked over it are given up. */
export const CHANNEL_GONE_MS = 10 * SECOND

/** How often this is checked. */
export const CHANNEL_CHECK_MS = SECOND

// Limits on what an upstream server may do.

/** The longest answer or event of a server over HTTP, in bytes after decompression. A longer one fails its request. */
export const SERVER_MESSAGE_BYTES = 256 * MIB
/** How many bytes of the body of an HTTP error are read. */
export const ERROR_BODY_BYTES = MIB
/** How long a server over HTTP may take to end a session that is no longer needed. */
export const END_SESSION_MS = 2 * SECOND
/** How many attempts in a row to request a broken stream of events again may fail. */
export const MAX_RESUMES = 2
/** The pause before the first attempt, unless the server names another. The pause grows by half with each attempt. */
export const FIRST_RESUME_MS = SECOND
/** The longest pause before such an attempt. */
export const LONGEST_RESUME_MS = 30 * SECOND
/** How many answers to its questions a server over HTTP is sent at a time. Further ones wait. */
export const MAX_ANSWERING = 16
/** The connection to a server over HTTP is ended if it asks questions and leaves more answers than this unread. */
export const MAX_UNREAD_ANSWERS = 10_000
/** How long a call may go without an answer or progress. Option `timeoutMs` of `toolsFromMcp`. */
export const CALL_SILENCE_MS = 10 * MINUTE
/** How long a call may take, whatever progress it reports. Option `maxCallMs` of `toolsFromMcp`. */
export const CALL_MS = 60 * MINUTE
/** The time between two requests for the state of a task, if its server does not say otherwise. */
export const POLL_MS = SECOND
/** The shortest time between two requests for the state of a task, whatever its server says. */
export const SHORTEST_POLL_MS = 50
/** The longest time between two requests for the state of a task, whatever its server says. */
export const LONGEST_POLL_MS = 30 * SECOND
/** How many tasks of a server have their progress passed on at a time. */
export const MAX_TASK_LISTENERS = 1_000
/** How long a page of a tool list may take. */
export const LIST_TIMEOUT_MS = MINUTE
/** How many tools of one server are read. Option `maxTools` of `toolsFromMcp`. */
export const MAX_TOOLS = 10_000
/** How many bytes of JSON the tools of one server may have. The rest of a longer list is left out. */
export const MAX_TOOLS_BYTES = 32 * MIB
/** How many pages of one tool list are read. */
export const MAX_PAGES = 1_000
/** How deeply a tool definition, or an answer, of a server may be nested. */
export const MAX_DEPTH = 200
/** How many characters of the data that a server adds to an error message are passed on. */
export const ERROR_DATA_CHARACTERS = 1_000
/**
 * How many characters of each text in a result that is an error are passed on. Option `maxErrorCharacters` of
 * `toolsFromMcp`.
 */
export const ERROR_RESULT_CHARACTERS = 100_000
/** How many characters of the message of a progress report are passed on. */
export const PROGRESS_CHARACTERS = 1_000
/** How many characters of the reason for a cancellation are passed on. */
export const MAX_REASON = 1_000
/** The `_meta` of a progress report is passed on up to this size. */
export const PROGRESS_META_BYTES = 10_000
/** The time between two requests for a list that its server keeps changing. The first few come sooner. */
export const RELIST_MS = SECOND

/**
 * How many characters of a request's id, or of a key that a client sends with a call, a tool receives. Longer ones are
 * replaced.
 */
export const MAX_CALL_KEY = 256

// Limits on skills.

/** How many files one served skill may have. Clients need not accept more. */
export const MAX_SERVED_SKILL_FILES = 512
/** How many bytes the files of one served skill have together. Clients need not accept more. */
export const MAX_SERVED_SKILL_BYTES = 16 * MIB
/** How many characters of a server's instructions announce its skills. */
export const MAX_SKILL_INSTRUCTIONS = 2_000
/** How many skills of a server are listed. */
export const MAX_SERVED_SKILLS = 10_000
/** How many pages of a server's list of skills are read. */
export const MAX_SKILL_PAGES = 100
/** How deeply the front matter of a server's skill may be nested. */
export const MAX_FRONT_MATTER_DEPTH = 50

// Limits on folded results, unless the server has a store of its own.

/** How long a folded result is kept in memory after it was last read. */
export const RESULT_KEPT_MS = 1_800_000
/** How many folded results are kept in memory. */
export const MAX_KEPT_RESULTS = 1_000
/** How many characters all folded results in memory have together. */
export const MAX_KEPT_CHARACTERS = 128 * MIB
/** How many characters a folded result may have in memory. Of a longer one, the model sees the beginning only. */
export const MAX_READ_CHARACTERS = 4 * MIB
/** How many tokens of a folded result a model reads at a time. */
export const MAX_READ_TOKENS = 8_000
