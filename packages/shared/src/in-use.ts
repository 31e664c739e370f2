import { setTimeout as sleep } from 'node:timers/promises'

/** What {@link retryIfInUse} is told only by tests. */
interface RetryOptions {
  readonly platform?: NodeJS.Platform
  /** How long to go on. */
  readonly waitMs?: number
}

/** A virus scanner may take seconds. */
const WAIT_MS = 2_000
/** Nothing else of this process runs meanwhile. */
const WAIT_SYNC_MS = 200
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 50

/**
 * Changes a file on the disk. On Windows, a file that another program reads cannot be replaced, and one that is being removed can be neither
 * opened nor created. That passes, so the change is tried again for two seconds.
 *
 * @example
 * ```ts
 * import { rename, writeFile } from 'node:fs/promises'
 * import { retryIfInUse } from 'foldout/node'
 *
 * await writeFile('state.json.tmp', '{}')
 * await retryIfInUse(() => rename('state.json.tmp', 'state.json'))
 * ```
 */
export async function retryIfInUse<Value>(change: () => Promise<Value>, options: RetryOptions = {}): Promise<Value> {
  const end = Date.now() + (options.waitMs ?? WAIT_MS)
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await change()
    } catch (error) {
      if (Date.now() >= end || !isInUse(error, options.platform)) throw error
    }
    await sleep(pause)
  }
}

/** The same for a change during which no other code of this process may run. Tries for 0.2 seconds. */
export function retryIfInUseSync<Value>(change: () => Value, options: RetryOptions = {}): Value {
  const end = Date.now() + (options.waitMs ?? WAIT_SYNC_MS)
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return change()
    } catch (error) {
      if (Date.now() >= end || !isInUse(error, options.platform)) throw error
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause)
  }
}

/** Whether a change failed as it does on Windows while another program has the file open. A missing permission looks the same. */
function isInUse(error: unknown, platform: NodeJS.Platform = process.platform): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return platform === 'win32' && (code === 'EPERM' || code === 'EACCES' || code === 'EBUSY')
}
