import { setImmediate } from 'node:timers/promises'
import { MAX_SLICE_MS } from './limits.ts'

/** Lets everything else have its turn, once a piece of long work has taken its time. */
export type Pause = () => Promise<void> | undefined

export function createPace(): Pause {
  let since = performance.now()
  const rest = async (): Promise<void> => {
    await setImmediate()
    since = performance.now()
  }
  // Most pieces are small, and do not wait at all.
  return () => {
    if (performance.now() - since < MAX_SLICE_MS) return undefined
    return rest()
  }
}
