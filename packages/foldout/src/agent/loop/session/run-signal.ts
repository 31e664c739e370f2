import { FoldoutError } from '../../../core/errors.ts'
import { LONGEST_TIMER_MS, toTimerMs } from '../../../core/timer.ts'
import { LimitReachedError, RunAbortedError } from '../../errors.ts'
import type { RunState } from '../../state/run-state.ts'

/** A signal for one call, to be released when the call has ended. */
export interface CallSignal {
  readonly signal: AbortSignal
  release(): void
}

/** Ends a run from outside: by the caller's signal, the deadline, or a reader that leaves the stream. */
export interface RunSignal {
  readonly signal: AbortSignal
  /** Cancels the run. */
  cancel(reason: Error): void
  /**
   * Creates a separate signal for one call. Listeners that are never removed go away with the call, so a run of
   * thousands of calls does not accumulate listeners.
   */
  fork(timeoutMs: number | undefined): CallSignal
  /** Throws if the run was ended. */
  check(state: RunState): void
  /** Returns the error of a run that was ended, with the first reason. */
  getError(state: RunState): Error
  /** Stops listening. */
  close(): void
}

export function createRunSignal(given: AbortSignal | undefined, deadline: Date | undefined): RunSignal {
  checkDeadline(deadline)
  const controller = new AbortController()
  const forks = new Set<AbortController>()
  let isLate = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const abort = (reason: unknown): void => {
    if (controller.signal.aborted) return
    controller.abort(reason)
    for (const fork of forks) fork.abort(reason)
  }
  const onAbort = (): void => abort(given?.reason)
  const watch = (until: Date): void => {
    const left = until.getTime() - Date.now()
    if (left > 0) timer = setTimeout(() => watch(until), toTimerMs(left))
    else {
      isLate = !controller.signal.aborted
      abort(createTimeout(describeDeadline(until)))
    }
  }
  if (given?.aborted) onAbort()
  else given?.addEventListener('abort', onAbort, { once: true })
  if (deadline) watch(deadline)

  const getError = (state: RunState): Error => {
    if (isLate && deadline) return new LimitReachedError('deadline', describeDeadline(deadline), state)
    return new RunAbortedError(state, controller.signal.reason)
  }
  return {
    signal: controller.signal,
    cancel: abort,
    fork: (timeoutMs) => createFork(controller.signal, forks, timeoutMs),
    check(state) {
      // A timer may be late if the event loop was busy.
      if (deadline && !controller.signal.aborted && Date.now() >= deadline.getTime()) watch(deadline)
      if (controller.signal.aborted) throw getError(state)
    },
    getError,
    close() {
      clearTimeout(timer)
      given?.removeEventListener('abort', onAbort)
    },
  }
}

function createFork(parent: AbortSignal, forks: Set<AbortController>, timeoutMs: number | undefined): CallSignal {
  const fork = new AbortController()
  if (parent.aborted) fork.abort(parent.reason)
  else forks.add(fork)
  const timer =
    timeoutMs === undefined || timeoutMs > LONGEST_TIMER_MS
      ? undefined
      : setTimeout(() => fork.abort(createTimeout(`The call took longer than ${timeoutMs} ms.`)), timeoutMs)
  return {
    signal: fork.signal,
    release() {
      clearTimeout(timer)
      forks.delete(fork)
    },
  }
}

function createTimeout(message: string): DOMException {
  return new DOMException(message, 'TimeoutError')
}

function describeDeadline(deadline: Date): string {
  return `The run's deadline, ${deadline.toISOString()}, has passed.`
}

function checkDeadline(deadline: Date | undefined): void {
  if (deadline === undefined || (deadline instanceof Date && !Number.isNaN(deadline.getTime()))) return
  throw new FoldoutError(
    'deadline-invalid',
    'The deadline is not a valid date. Pass a Date, such as new Date(Date.now() + 60_000).',
  )
}
