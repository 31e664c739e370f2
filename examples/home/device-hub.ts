// The devices and the effects of a change: a dimmed lamp is on, and a device that is on uses power.
import { getCapability, checkValue } from './capabilities.ts'
import { HomeError, type Change, type Device, type Value } from './model.ts'

export type ChangeListener = (change: Change, before: Value) => void

export interface DeviceHub {
  all(): readonly Device[]
  get(id: string): Device | undefined
  /** Sets values that people and flows can set: all of them, or none with an error. Returns what changed. */
  set(changes: readonly Change[]): readonly Change[]
  /** Applies the measurements of sensors. */
  measure(changes: readonly Change[]): void
  /** The load on a socket, as a share of its full power. */
  load(device: string, share: number): void
}

/** The power that a house uses with everything switched off. */
const standbyWatts = 85

export function createDeviceHub(furnishing: readonly Device[], onChange: ChangeListener): DeviceHub {
  const devices = new Map(furnishing.map((device) => [device.id, device]))
  const loads = new Map<string, number>()

  function apply(changes: readonly Change[]): Change[] {
    const made: { readonly change: Change; readonly before: Value }[] = []
    const copies = new Map<string, Record<string, Value>>()
    for (const change of changes) {
      const device = devices.get(change.device)
      const before = device?.state[change.capability]
      if (!device || before === undefined || before === change.value) continue
      let state = copies.get(device.id)
      if (!state) {
        copies.set(device.id, (state = { ...device.state }))
        devices.set(device.id, { ...device, state })
      }
      state[change.capability] = change.value
      made.push({ change, before })
    }
    // Notified last, so that a listener sees the home with all changes.
    for (const { change, before } of made) onChange(change, before)
    return made.map(({ change }) => change)
  }

  function settlePower(): void {
    let total = standbyWatts
    const changes: Change[] = []
    for (const device of devices.values()) {
      const watts = Math.round(computePower(device, loads.get(device.id) ?? 1) * 10) / 10
      total += watts
      if (device.class === 'socket') changes.push({ device: device.id, capability: 'measure_power', value: watts })
    }
    apply([...changes, { device: 'meter-main', capability: 'measure_power', value: Math.round(total) }])
  }

  return {
    all: () => [...devices.values()],
    get: (id) => devices.get(id),
    set(changes) {
      for (const change of changes) checkChange(devices.get(change.device), change)
      const made = apply(changes.flatMap((change) => [change, ...implied(devices.get(change.device)!, change)]))
      settlePower()
      return made
    },
    measure(changes) {
      apply(changes.filter(({ device }) => !devices.get(device)?.unavailable))
      settlePower()
    },
    load: (device, share) => void loads.set(device, share),
  }
}

function checkChange(device: Device | undefined, { device: id, capability, value }: Change): void {
  if (!device) throw new HomeError(`There is no device '${id}'.`)
  if (device.unavailable) {
    throw new HomeError(`${device.name} (${device.id}) cannot be reached: ${device.unavailable}. Nothing was changed.`)
  }
  if (!(capability in device.state)) {
    throw new HomeError(
      `${device.name} (${device.id}) has no capability '${capability}'. It has ${Object.keys(device.state).join(', ')}.`,
    )
  }
  checkValue(capability, value)
}

/** What else changes in a device when one of its capabilities is set. */
function implied(device: Device, { capability, value }: Change): Change[] {
  const and = (other: string, to: Value): Change[] =>
    other in device.state ? [{ device: device.id, capability: other, value: to }] : []
  if (capability === 'dim') return and('onoff', value !== 0)
  if (capability === 'onoff' && value === true && device.state['dim'] === 0) return and('dim', 1)
  if (capability === 'light_hue' || capability === 'light_saturation') return and('light_mode', 'color')
  if (capability === 'light_temperature') return and('light_mode', 'temperature')
  return []
}

function computePower(device: Device, load: number): number {
  if (device.unavailable || device.state['onoff'] !== true) return 0
  const { dim } = device.state
  return device.watts * load * (typeof dim === 'number' ? dim : 1)
}

/** Whether a capability of a device can be set. */
export function canSet(device: Device, capability: string): boolean {
  return capability in device.state && getCapability(capability).settable
}
