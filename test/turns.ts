import { setImmediate } from 'node:timers/promises'

/**
 * Lets other work run for a number of turns of the event loop: pending promises, due timers, and data that has arrived.
 * Tests wait for this instead of a time if something must not happen, or must take longer than something else.
 */
export async function takeTurns(turns = 50): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await setImmediate()
}
