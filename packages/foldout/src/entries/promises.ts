/**
 * Work that nothing waits for, and work that a signal ends.
 *
 * @module foldout/promises
 */

export { untilAborted } from '../core/abort.ts'
export { ignore } from '../core/promises.ts'
