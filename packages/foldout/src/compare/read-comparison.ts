import { FoldoutError } from '../core/errors.ts'
import type { CompareReport } from './contract/report.ts'
import { describeRuns } from './report/report.ts'

/**
 * Reads what a comparison has saved, and says what it has shown so far.
 *
 * @example
 * ```ts
 * const { verdict } = await readComparison('compare.jsonl')
 * ```
 *
 * @throws FoldoutError with the code `compare-file` if it is not a saved comparison.
 */
export async function readComparison(path: string): Promise<CompareReport> {
  const { readSavedFile } = await import('./file/saved-file.ts')
  const { header, runs } = await readSavedFile(path)
  if (header) return describeRuns(header, runs)
  throw new FoldoutError('compare-file', `'${path}' is not a saved comparison. Pass the file that \`save\` named.`)
}
