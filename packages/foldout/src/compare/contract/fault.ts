import { FoldoutError } from '../../core/errors.ts'

/** An error in what a comparison is given. */
export function createFault(message: string): FoldoutError {
  return new FoldoutError('compare-invalid', message)
}
