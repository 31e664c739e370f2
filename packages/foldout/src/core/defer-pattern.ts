/**
 * Creates a regular expression when it is first used. Engines check every literal when they load a file, and checking
 * one with Unicode properties (`\p{L}`) takes up to a millisecond, so the files that most programs load contain no such
 * literals.
 */
export function deferPattern(source: string, flags: string): () => RegExp {
  let pattern: RegExp | undefined
  return () => (pattern ??= new RegExp(source, flags))
}
