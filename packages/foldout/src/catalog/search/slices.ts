import { MAX_SLICE_CHARACTERS, MAX_SLICE_MS } from './limits.ts'

// Indexing shares its thread with the rest of the process. It works in short slices, one at a time in the whole process, and lets
// other work run in between.

/** How long background work pauses between two slices, in milliseconds. */
const REST_MS = 1

type Run = () => void

// Read when this module is loaded: tests replace the timers, and an index would wait forever for a stopped clock.
const { setTimeout: startTimer, setImmediate: startImmediate } = globalThis as {
  readonly setTimeout: (run: Run, ms: number) => unknown
  readonly setImmediate?: (run: Run) => unknown
}

const resting: Run[] = []
/** How many searches are waiting for the index. */
let searches = 0
let isTurnComing = false
let isRestEnding = false

/** Lets other work run. It keeps the process alive only while a search is waiting, not for indexing ahead of time. */
export function pause(): Promise<void> {
  return new Promise((resolve) => {
    resting.push(resolve)
    schedule()
  })
}

/** Waits for work that is done in slices. Meanwhile, the pauses between slices are as short as possible. */
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
    // Some runtimes cannot start a timer before the first request. There, the first search does all the work.
    const timer = startTimer(() => {
      isRestEnding = false
      takeTurn()
    }, REST_MS)
    isRestEnding = true
    letProcessEnd(timer)
  }
}

/** Runs one slice of one index. The others follow, with other work of the process in between. */
function takeTurn(): void {
  resting.shift()?.()
  schedule()
}

function runSoon(run: Run): void {
  if (startImmediate) startImmediate(run)
  else if (typeof MessageChannel === 'function') postToSelf(run)
  else startTimer(run, 0)
}

/** For browsers, where repeated timers are delayed by at least four milliseconds. */
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

/** A piece of work that ends after a certain time. */
export interface Slice {
  /** Counts work that was done, and returns whether the slice is over. */
  spend(characters: number): boolean
  /** Lets other work run, and starts the next slice. */
  next(): Promise<void>
}

/** Starts a slice. `onEnd` is called with the number of characters of each slice. */
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

/** Work that can be interrupted between its steps. */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** How many tools are passed over in one step. Code that runs for the first time takes a microsecond for each. */
export const PASSED_AT_ONCE = 1_024

/** Does all steps at once. */
export function runSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Does steps in slices. Returns `undefined` if what they work on has changed between two slices. */
export async function runStepsInSlices<Result>(
  steps: Steps<Result>,
  hasChanged: () => boolean,
): Promise<{ readonly result: Result } | undefined> {
  const slice = startSlice()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return { result: step.value }
    if (!slice.spend(0)) continue
    await slice.next()
    if (hasChanged()) return undefined
  }
}
