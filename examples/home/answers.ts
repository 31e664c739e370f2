// Formats the answers of the home's tools.
import { fail, type ToolResult } from 'foldout'
import { spoken } from './capabilities.ts'
import { deviceLabel } from './find.ts'
import type { Home } from './home.ts'
import { HomeError, type Change, type Device } from './model.ts'

/** Turns an error of the home into a failure that the model can read. */
export function answer<Value>(work: () => ToolResult<Value>): ToolResult<Value> {
  try {
    return work()
  } catch (error) {
    if (error instanceof HomeError) return fail(error.message)
    throw error
  }
}

/** `on, dim 0.8, light_temperature 0.6`. */
export function stateText({ state, unavailable }: Device): string {
  const values = Object.entries(state).map(([capability, value]) => spoken(capability, value))
  return `${values.join(', ')}${unavailable ? ` (last known: cannot be reached, ${unavailable})` : ''}`
}

export interface DeviceState {
  readonly id: string
  readonly name: string
  readonly zone: string
  readonly class: string
  readonly available: boolean
  readonly state: Device['state']
}

export function deviceState({ id, name, zone, class: kind, unavailable, state }: Device): DeviceState {
  return { id, name, zone, class: kind, available: !unavailable, state }
}

/** Makes changes and reports which flows they started. */
export function setAndTell(home: Home, changes: readonly Change[]): { changed: readonly Change[]; aside: string } {
  const before = new Set(home.flowRuns())
  const changed = home.set(changes)
  const runs = home.flowRuns().filter((run) => !before.has(run) && run.done.length > 0)
  const flows = [...new Set(runs.map(({ flow }) => flow))]
  return { changed, aside: flows.length > 0 ? ` This set off the flow ${flows.join(', ')}.` : '' }
}

/** `light-hallway-ceiling (Ceiling light, Hallway) is now: on, dim 0.3.` */
export function nowText(home: Home, id: string, changed: readonly Change[]): string {
  const device = home.device(id)!
  return `${deviceLabel(home, device)} ${changed.length > 0 ? 'is now' : 'already was'}: ${stateText(device)}.`
}
