import { MAX_SLICE_CHARACTERS, MAX_SLICE_MS } from './limits.ts'

// Indexing shares its thread with whatever the process is for. So it works in short slices, one at a time in the whole
// process, and lets everything else run in between.

/** How long work that nobody waits for rests between two slices, in milliseconds. */
const REST_MS = 1

type Run = () => void

// Taken when this is loaded: tests replace the clock, and an index that waits for a stopped one would wait forever.
const { setTimeout: startTimer, setImmediate: startImmediate } = globalThis as {
  readonly setTimeout: (run: Run, ms: number) => unknown
  readonly setImmediate?: (run: Run) => unknown
}

const resting: Run[] = []
/** How many searches wait for the index. */
let searches = 0
let isTurnComing = false
let isRestEnding = false

/** Lets others run. Keeps the process alive only while a search waits: indexing ahead of time is not worth that. */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    resting.push(resolve)
    schedule()
  })
}

/** Waits for work that is done in slices. As long as it does, the rests between them are as short as can be. */
export async function hurry<Result>(work: () => Promise<Result>): Promise<Result> {
  searches++
  schedule()
  try {
    return await work()
  } finally {
    searches--
  }
}

function schedule(): void {
  if (resting.length === 0) return
  if (searches > 0) {
    if (isTurnComing) return
    isTurnComing = true
    runSoon(() => {
      isTurnComing = false
      takeTurn()
    })
  } else if (!isRestEnding) {
    // Where no timer can be started, such as before a first request in some runtimes, the first search does it all.
    const timer = startTimer(() => {
      isRestEnding = false
      takeTurn()
    }, REST_MS)
    isRestEnding = true
    letProcessEnd(timer)
  }
}

/** One slice of one index; the others follow, each after the process had its turn. */
function takeTurn(): void {
  resting.shift()?.()
  schedule()
}

function runSoon(run: Run): void {
  if (startImmediate) startImmediate(run)
  else if (typeof MessageChannel === 'function') postToSelf(run)
  else startTimer(run, 0)
}

/** What browsers have instead: a timer would rest for four milliseconds after a few turns. */
function postToSelf(run: Run): void {
  const { port1, port2 } = new MessageChannel()
  port1.addEventListener('message', () => {
    port1.close()
    run()
  })
  port1.start()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has no origin
  port2.postMessage(undefined)
}

function letProcessEnd(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref()
}

/** A piece of work that ends when it took long enough. */
export interface Slice {
  /** Counts what was done, and tells whether the slice is over. */
  spend(characters: number): boolean
  /** Lets others run, and begins the next slice. */
  next(): Promise<void>
}

/** Begins a slice. `onEnd` is told how many characters each slice had. */
export function startSlice(onEnd?: (characters: number) => void): Slice {
  let spent = 0
  let until = performance.now() + MAX_SLICE_MS
  return {
    spend(characters) {
      spent += characters
      return spent >= MAX_SLICE_CHARACTERS || performance.now() >= until
    },
    async next() {
      onEnd?.(spent)
      await pause()
      spent = 0
      until = performance.now() + MAX_SLICE_MS
    },
  }
}
