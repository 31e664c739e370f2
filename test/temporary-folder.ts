import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Creates a folder for a module that has no end of its own. Workers of the tests are ended without an event, so in tests the folder is
 * in the one that is removed after the last of them. Other programs remove it when they end.
 */
export function createTemporaryFolder(prefix: string): string {
  const folder = mkdtempSync(join(process.env['XDG_DATA_HOME'] ?? tmpdir(), prefix))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
