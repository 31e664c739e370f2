/** The fields that have a value, for optional fields that must be absent rather than undefined. */
export function dropUndefined<Fields extends object>(
  fields: Fields,
): { readonly [Key in keyof Fields]?: Exclude<Fields[Key], undefined> } {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as { readonly [Key in keyof Fields]?: Exclude<Fields[Key], undefined> }
}
