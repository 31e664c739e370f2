/** The one JSON document that a command prints. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
