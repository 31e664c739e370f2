// The home's logs: the values of sensors and switches, step by step.
import { getCapability, recordedNames } from './capabilities.ts'
import { day, step } from './clock.ts'
import type { Device } from './model.ts'

export interface InsightLog {
  /** `device:capability`. */
  readonly id: string
  readonly device: string
  readonly capability: string
  /** Measured values have an average, switches a share of the time, meters what was used. */
  readonly kind: 'measure' | 'switch' | 'meter'
  readonly unit: string
  readonly samples: number
}

export interface InsightPoint {
  /** The start and end of the period that the point covers. */
  readonly from: number
  readonly to: number
  /** The average; for a switch, the share of samples in which it was on; for a meter, what was used. */
  readonly value: number
  readonly min: number
  readonly max: number
}

export interface InsightData {
  readonly log: InsightLog
  readonly points: readonly InsightPoint[]
  /** The same for the whole period; undefined if nothing was recorded. */
  readonly whole: InsightPoint | undefined
  readonly latest: number | undefined
}

export interface Insights {
  record(at: number, devices: readonly Device[]): void
  logs(): readonly InsightLog[]
  /** What was recorded after `from` and up to `to`, in at most this many points. */
  data(log: InsightLog, range: { readonly from: number; readonly to: number; readonly points: number }): InsightData
}

export const keptDays = 7
const keptSamples = (keptDays * day) / step

interface Series {
  readonly log: Omit<InsightLog, 'samples'>
  readonly times: number[]
  readonly values: number[]
}

export function createInsights(): Insights {
  const byId = new Map<string, Series>()
  const byDevice = new Map<string, readonly Series[]>()

  function getSeries(device: Device): readonly Series[] {
    const known = byDevice.get(device.id)
    if (known) return known
    const own = Object.keys(device.state)
      .filter((capability) => recordedNames.includes(capability))
      .map((capability) => newSeries(device.id, capability))
    byDevice.set(device.id, own)
    for (const series of own) byId.set(series.log.id, series)
    return own
  }

  return {
    record(at, devices) {
      for (const device of devices) {
        if (device.unavailable) continue
        for (const { log, times, values } of getSeries(device)) {
          times.push(at)
          values.push(Number(device.state[log.capability]))
          if (times.length > keptSamples) {
            times.shift()
            values.shift()
          }
        }
      }
    },
    logs: () => [...byId.values()].map(({ log, times }) => ({ ...log, samples: times.length })),
    data(log, { from, to, points }) {
      const { times, values } = byId.get(log.id)!
      const width = (to - from) / points
      const buckets = new Map<number, number[]>()
      const all: number[] = []
      for (const [index, at] of times.entries()) {
        if (at <= from || at > to) continue
        const bucket = Math.min(Math.ceil((at - from) / width), points) - 1
        const indices = buckets.get(bucket) ?? []
        if (indices.length === 0) buckets.set(bucket, indices)
        indices.push(index)
        all.push(index)
      }
      return {
        log,
        points: [...buckets].map(([bucket, indices]) =>
          sumUp(log.kind, values, indices, { from: from + bucket * width, to: from + (bucket + 1) * width }),
        ),
        whole: all.length === 0 ? undefined : sumUp(log.kind, values, all, { from, to }),
        latest: values.at(-1),
      }
    },
  }
}

function getKind(capability: string): InsightLog['kind'] {
  if (capability.startsWith('meter_')) return 'meter'
  return getCapability(capability).type === 'boolean' ? 'switch' : 'measure'
}

function newSeries(device: string, capability: string): Series {
  const known = getCapability(capability)
  const kind = getKind(capability)
  return {
    log: { id: `${device}:${capability}`, device, capability, kind, unit: known.type === 'number' ? known.unit : '' },
    times: [],
    values: [],
  }
}

function sumUp(
  kind: InsightLog['kind'],
  values: readonly number[],
  indices: readonly number[],
  time: { readonly from: number; readonly to: number },
): InsightPoint {
  const own = indices.map((at) => values[at]!)
  // The meter's previous reading is the start of the period that ends with the first sample.
  const used = own.at(-1)! - (values[indices[0]! - 1] ?? own[0]!)
  const mean = own.reduce((sum, value) => sum + value, 0) / own.length
  const round = (value: number): number => (kind === 'meter' ? rounded(value, 3) : rounded(value, 2))
  return {
    ...time,
    value: round(kind === 'meter' ? used : mean),
    min: round(Math.min(...own)),
    max: round(Math.max(...own)),
  }
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))
