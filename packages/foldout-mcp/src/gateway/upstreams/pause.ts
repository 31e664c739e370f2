import { setTimeout } from 'node:timers/promises'

/** Waits, without keeping the process alive. Ends early if the signal is aborted. Leaves no listener on the signal. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
}
