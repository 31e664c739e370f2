// Texts of steps, which the page shows as they are.

const MOST_DETAIL = 1_000

export function shorten(text: string): string {
  if (text.length <= MOST_DETAIL) return text
  return `${text.slice(0, MOST_DETAIL)}…`
}
