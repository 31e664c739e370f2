// The home's own clock. It advances only on request, so that runs are repeatable.

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

/** How often sensors measure and logs record. */
export const step = 5 * minute

/** `2026-01-12 19:00`. */
export function timeText(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ')
}

/** `19:00`. */
export function clockText(at: number): string {
  const minutes = (at % day) / minute
  return `${twoDigits(minutes / 60)}:${twoDigits(minutes % 60)}`
}

const twoDigits = (value: number): string => String(Math.floor(value)).padStart(2, '0')

/** Hours since midnight, with their fraction. */
export function getHour(at: number): number {
  return (at % day) / hour
}

export function isWeekday(at: number): boolean {
  const weekday = new Date(at).getUTCDay()
  return weekday > 0 && weekday < 6
}
