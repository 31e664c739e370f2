/** An object of fields with any values, such as one that was read from JSON. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is an object, and not a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A field that may be undefined becomes one that may be absent. */
type WithoutUndefined<Fields> = {
  readonly [Key in keyof Fields as undefined extends Fields[Key] ? Key : never]?: Exclude<Fields[Key], undefined>
} & { readonly [Key in keyof Fields as undefined extends Fields[Key] ? never : Key]: Fields[Key] }

/** The fields that have a value, for optional fields that must be absent rather than undefined. */
export function dropUndefined<Fields extends object>(fields: Fields): WithoutUndefined<Fields> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as WithoutUndefined<Fields>
}

/** The value if it is a text. */
export function readText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return undefined
}
