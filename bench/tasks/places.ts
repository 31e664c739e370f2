import type { Simulation } from 'foldout/telemetry'

/** Prices at which sections are opened in the system text, and behind the message. */
export const FORCED = {
  system: { cacheStart: 'cold' },
  message: { cache: { minimum: 0, read: 0.001, write: 1, ttlMs: 300_000 }, cacheStart: { perHour: 1 } },
} as const

/** The tokens of tools and system text in the first request. */
export const getStart = ({ requests }: Simulation): number => (requests[0]?.tools ?? 0) + (requests[0]?.system ?? 0)
