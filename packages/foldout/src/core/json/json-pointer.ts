/** Splits a JSON Pointer in a URI fragment into keys: `/a~1b/0` → `a/b`, `0`. */
export function pointerKeys(pointer: string): string[] {
  return pointer.split('/').slice(1).map(decodeSegment)
}

/** Resolves a local reference (`#/$defs/a`) in a document, or returns `undefined`. */
export function resolvePointer(root: unknown, reference: string): unknown {
  if (reference === '#' || reference === '#/') return root
  if (!reference.startsWith('#/')) return undefined
  return pointerKeys(reference).reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined),
    root,
  )
}

function decodeSegment(segment: string): string {
  let plain = segment
  try {
    plain = decodeURIComponent(segment)
  } catch {
    // A lone percent sign is literal.
  }
  return plain.replaceAll('~1', '/').replaceAll('~0', '~')
}
