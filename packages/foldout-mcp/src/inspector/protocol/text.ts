// Texts of steps, which the page shows as they are.

const MOST_DETAIL = 1_000

export function shorten(text: string): string {
  if (text.length <= MOST_DETAIL) return text
  return `${text.slice(0, MOST_DETAIL)}…`
}

export function formatNumber(value: number): string {
  return Math.round(value).toLocaleString('en')
}

export function formatCount(count: number, word: string): string {
  return `${formatNumber(count)} ${count === 1 ? word : `${word}s`}`
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
