/** `12,345`. Loading the formatter of `toLocaleString` takes longer than starting a small gateway's catalog. */
export function formatNumber(number: number): string {
  if (!Number.isSafeInteger(number)) return number.toLocaleString('en')
  return String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/** Formats a measured number, of which the fraction does not matter. */
export function formatRounded(number: number): string {
  return formatNumber(Math.round(number))
}

/** `1 tool`, `2,000 tools`. */
export function formatCount(count: number, word: string, plural = `${word}s`): string {
  return `${formatNumber(count)} ${count === 1 ? word : plural}`
}

/** `$12.50`: dollars with at least two digits that count. */
export function formatUsd(usd: number): string {
  if (Math.abs(usd) < 0.1 && usd !== 0) return `$${usd.toPrecision(2)}`
  return `$${usd.toFixed(2)}`
}

/** A size in decimal units, as networks count: `512 B`, `1.5 kB`, `12.0 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
