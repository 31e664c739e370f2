/** How many calls may wait at a time for the answers of modern clients, which answer with another request. */
export const MAX_HELD = 1_000

/** How many calls of one user may wait for answers at a time, if clients have tokens. */
export const MAX_HELD_EACH = 100

/** How often a gateway that holds such a call checks at first whether another gateway has received the answer. */
export const HELD_POLL_MS = 100

/** How often it checks after a while. */
export const LONGEST_HELD_POLL_MS = 1_000

/**
 * How long a gateway that received an answer waits for the gateway that holds the call to take it. After that, the other
 * gateway is presumed dead.
 */
export const TAKEN_MS = 10_000

/** How long such a call waits for the next answer before it is canceled. */
export const HELD_MS = 600_000

/** How many questions that a server asks outside of calls may wait for an answer. Further ones are refused. */
export const MAX_OUTSIDE = 16

/** How long such a question waits for its answer. */
export const ANSWER_MS = 600_000

/** How long such a question waits for a client, because a server may be started before its client. */
export const CLIENT_WAIT_MS = 10_000

/** How often it looks for the client. */
export const CLIENT_POLL_MS = 100

/** How long a call waits until its server has asked for the client's folders, after it was told that they have changed. */
export const ROOTS_ASKED_MS = 1_000

/** How long a call waits until its client has named these folders. */
export const ROOTS_ANSWERED_MS = 5_000

/** How long a server gets to apply the folders before it gets the call. */
export const ROOTS_TAKEN_MS = 50

/** How many tasks of one server the gateway remembers. One more removes the oldest. */
export const MAX_TASKS = 1_000

/** How long a task keeps an idle server from being stopped. */
export const TASK_MS = 3_600_000

/** How many tasks one page of the task list has. */
export const TASKS_PER_PAGE = 50
