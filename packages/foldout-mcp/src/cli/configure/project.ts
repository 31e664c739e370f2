import { resolve } from 'node:path'
import { UsageError } from '../../gateway/config/config.ts'
import { findStats } from '../../shared/files.ts'

/**
 * The folder of a project: the one that an option names, or else the current one.
 *
 * @throws UsageError if there is no such folder. A misspelled name must not create one.
 */
export function findProject(named: string | boolean | undefined): string {
  if (typeof named !== 'string') return process.cwd()
  const folder = resolve(named)
  if (!findStats(folder)?.isDirectory()) throw new UsageError(`There is no folder ${folder}.`)
  return folder
}
