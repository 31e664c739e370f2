import { vi } from 'vitest'

/** How long tests wait for something to happen, in milliseconds. On a busy machine, a second is not enough. */
const PATIENCE_MS = 20_000

const { waitFor, waitUntil } = vi
vi.waitFor = (check, options) => waitFor(check, addPatience(options))
vi.waitUntil = (check, options) => waitUntil(check, addPatience(options))

function addPatience<Options extends object>(options: number | Options | undefined): number | (Options & object) {
  if (typeof options === 'number') return options
  return { timeout: PATIENCE_MS, ...(options as Options) }
}
