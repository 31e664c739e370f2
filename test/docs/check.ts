import assert from 'node:assert/strict'
import { inspect } from 'node:util'

/** Compares a value with the text after `// =>` on a page. */
export function check(value: unknown, stated: string): void {
  const shown = inspect(value, { breakLength: Infinity, compact: true, depth: 6 })
  assert.equal(shown, stated)
}
