import { setTimeout } from 'node:timers/promises'
import { ignore } from 'foldout/promises'

/** Waits, without keeping the process alive. Ends early if the signal is aborted. Leaves no listener on the signal. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await ignore(setTimeout(milliseconds, undefined, { signal, ref: false }), 'the signal ends the wait')
}

/** Waits, but not longer than the process has other work. */
export function sleep(milliseconds: number): Promise<void> {
  return setTimeout(milliseconds, undefined, { ref: false })
}
