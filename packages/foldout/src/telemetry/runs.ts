import type { AgentEvent } from '../agent/events.ts'

/** How a run ended; `'unfinished'` if another run began before this one reported its end. */
export interface RunEnd {
  readonly status: 'completed' | 'stopped' | 'waiting' | 'failed' | 'unfinished'
  /** The code or the name of the error that a failed run threw. */
  readonly errorType: string | undefined
}

export interface RunHandlers {
  begins(): void
  tells(event: AgentEvent): void
  ends(end: RunEnd): void
}

/**
 * Listens to runs, one after another. Overlapping runs each need their own listener.
 *
 * @example
 * ```ts
 * const listener: RunListener = createRecorder({ prompt: bound })
 * await runAgent(bound, { adapter, onEvent: listener.onEvent })
 * ```
 */
export interface RunListener {
  onEvent(event: AgentEvent): void
}

/** Splits a stream of events into runs. */
export function watchRuns(handlers: RunHandlers): RunListener {
  let isRunning = false
  const end = (how: RunEnd): void => {
    if (!isRunning) return
    isRunning = false
    handlers.ends(how)
  }
  return {
    onEvent(event) {
      if (event.type === 'run/started') {
        end({ status: 'unfinished', errorType: undefined })
        isRunning = true
        handlers.begins()
      }
      if (!isRunning) return
      handlers.tells(event)
      if (event.type === 'run/finished') end({ status: event.status, errorType: undefined })
      if (event.type === 'run/failed') end({ status: 'failed', errorType: event.errorType })
    },
  }
}
