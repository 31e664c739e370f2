// Finds what a model means by an id or a name, and lists what exists if nothing matches.
import type { Home } from './home.ts'
import type { InsightLog } from './insights.ts'
import { HomeError, type Device, type Flow, type Zone } from './model.ts'
import { nearest } from './nearest.ts'

export function findDevice(home: Home, wanted: string): Device {
  return find(wanted, home.devices(), {
    kind: 'device',
    getNames: (device) => [device.id, device.name, `${zoneName(home, device.zone)} ${device.name}`],
    label: (device) => deviceLabel(home, device),
    advice: 'get_home_structure lists every device.',
  })
}

export function findZone(home: Home, wanted: string): Zone {
  return find(wanted, home.zones(), {
    kind: 'zone',
    getNames: ({ id, name }) => [id, name],
    label: ({ id, name }) => `${id} (${name})`,
    advice: 'get_home_structure lists every zone.',
  })
}

export function findFlow(home: Home, wanted: string): Flow {
  return find(wanted, home.flows(), {
    kind: 'flow',
    getNames: ({ id, name }) => [id, name],
    label: ({ id, name }) => `${id} (${name})`,
    advice: 'get_flow_overview lists every flow; call refresh_homey_flows first if it was made just now.',
  })
}

export function findLog(home: Home, wanted: string): InsightLog {
  return find(wanted, home.insightLogs(), {
    kind: 'insight log',
    getNames: ({ id }) => [id],
    label: ({ id }) => id,
    advice: 'get_insight_logs lists every log.',
  })
}

/** `light-kitchen-ceiling (Ceiling light, Kitchen)`. */
export function deviceLabel(home: Home, device: Device): string {
  return `${device.id} (${device.name}, ${zoneName(home, device.zone)})`
}

export function zoneName(home: Home, id: string): string {
  return home.zones().find((zone) => zone.id === id)?.name ?? id
}

interface Lookup<T> {
  readonly kind: string
  /** Its id first, then its names. */
  readonly getNames: (item: T) => readonly string[]
  readonly label: (item: T) => string
  readonly advice: string
}

function find<T>(wanted: string, items: readonly T[], { kind, getNames, label, advice }: Lookup<T>): T {
  const key = wanted.trim().toLowerCase()
  const byId = items.find((item) => getNames(item)[0] === key)
  if (byId) return byId
  const byName = items.filter((item) => getNames(item).some((name) => name.toLowerCase() === key))
  if (byName.length === 1) return byName[0]!
  if (byName.length > 1) {
    throw new HomeError(
      `${byName.length} ${kind}s are called '${wanted}': ${byName.map((item) => label(item)).join(', ')}. Use the id.`,
    )
  }
  const known = new Map(items.flatMap((item) => getNames(item).map((name) => [name, item] as const)))
  const near = new Set(nearest(wanted, [...known.keys()], 6).map((name) => known.get(name)!))
  const labels = [...near].slice(0, 3).map((item) => label(item))
  throw new HomeError(`There is no ${kind} '${wanted}'. Nearest: ${labels.join(', ')}. ${advice}`)
}
