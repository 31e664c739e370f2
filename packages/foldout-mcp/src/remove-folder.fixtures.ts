import { rm } from 'node:fs/promises'

/** Removes a folder. A process that is just ending may still write there, so this retries for a few seconds. */
export function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 10 })
}
