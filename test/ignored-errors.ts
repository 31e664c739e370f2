// Collects the rejections that code ignores on purpose. One that is a programming error fails the test.
import { afterAll, afterEach } from 'vitest'

const found: string[] = []

/** The listener of `ignore` in the library's core. */
Object.assign(globalThis, {
  [Symbol.for('foldout.ignored')](error: unknown, why: string): void {
    if (isProgrammingError(error)) found.push(`${(error as Error).stack}\n  was ignored, because: ${why}`)
  },
})

/**
 * Whether an error is a mistake in the code, or a failed expectation. Node.js and `fetch` also report other faults as a
 * TypeError: those have a code or a cause.
 */
export function isProgrammingError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'TypeError') return error.cause === undefined && !('code' in error)
  return error.name === 'ReferenceError' || error.name === 'AssertionError'
}

function failOnErrors(): void {
  const errors = found.splice(0)
  if (errors.length > 0) throw new Error(`A programming error was ignored:\n${errors.join('\n')}`)
}

afterEach(failOnErrors)
// One that came after the last test.
afterAll(failOnErrors)
