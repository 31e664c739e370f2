import { setImmediate } from 'node:timers/promises'

/**
 * Lets other work run for a number of turns of the event loop: pending promises, due timers, and data that has arrived.
 * Tests wait for this instead of a time if something must not happen, or must take longer than something else.
 */
export async function takeTurns(turns = 50): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await setImmediate()
}

/** Waits until a signal is aborted, and fails with its reason. */
export function waitForAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}
