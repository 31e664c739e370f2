import { FoldoutError } from 'foldout'

/** Rejects a time that is not a number. With NaN, servers would have no time at all. */
export function checkTimeout(timeoutMs: number): void {
  if (Number.isFinite(timeoutMs) && timeoutMs >= 0) return
  throw new FoldoutError('mcp-options', `timeoutMs is ${timeoutMs}. Pass a number, 0 or more, or leave it out.`)
}
