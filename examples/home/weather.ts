// Simulates weather, people and heating over time from a seed, so that every run is the same. The home's devices decide how
// to react.
import { day, hour, getHour, step } from './clock.ts'
import type { DeviceHub } from './device-hub.ts'
import type { Change, Device } from './model.ts'

/** When a thermostat on `auto` changes its target, and to what. */
const schedule: Readonly<Record<string, readonly (readonly [at: number, target: number])[]>> = {
  'thermostat-living': [
    [6.5, 20],
    [22.5, 17],
  ],
  'thermostat-bedroom': [
    [21, 18],
    [8, 16],
  ],
}

/** The share of a room's temperature difference to the outside that it loses per step, for rooms that differ from the default. */
const draughts: Readonly<Record<string, number>> = {
  kitchen: 0.0032,
  hallway: 0.0036,
  bathroom: 0.0027,
  office: 0.0033,
}

export interface Weather {
  /** The sensor readings at the end of a step. */
  measure(at: number, hub: DeviceHub): readonly Change[]
}

export function createWeather(seed: number): Weather {
  const draw = randomNumbers(seed)
  const rooms = new Map<string, number>()
  let front = 0
  let showerHumidity = 50

  return {
    measure(at, hub) {
      const time = getHour(at)
      front = 0.995 * front + 0.3 * (draw() - 0.5)
      const outdoor = 4 + 3 * Math.sin(((time - 9) / 12) * Math.PI) + 4 * front
      const daylight = Math.max(0, Math.sin(((time - 8) / 9) * Math.PI)) * (6000 + 5000 * draw())
      const isMoving = draw() < bustle(time)
      const isDoorOpen = draw() < bustle(time) / 10
      for (const device of hub.all()) if (device.class === 'socket') hub.load(device.id, 0.9 + 0.2 * draw())

      warmRooms(outdoor, hub)
      const isFanOn = hub.get('plug-bathroom-fan')?.state['onoff'] === true
      const isShowering = time >= 7 && time < 7.4
      showerHumidity += (50 - showerHumidity) * (isFanOn ? 0.12 : 0.04) + (isShowering ? 9 : 0)

      const changes: Change[] = []
      const say = (device: string, capability: string, value: number | boolean): void =>
        void changes.push({ device, capability, value })
      for (const device of hub.all()) {
        const { id, zone, state } = device
        if ('measure_temperature' in state) {
          const warmth = zone === 'garden' ? outdoor : rooms.get(zone)!
          say(id, 'measure_temperature', tenths(warmth))
          if (device.class === 'thermostat') changes.push(...regulate(device, warmth, at))
        }
        if ('measure_humidity' in state) {
          const indoors = zone === 'bathroom' ? showerHumidity : 45
          const usual = zone === 'garden' ? 80 : indoors
          say(id, 'measure_humidity', Math.round(Math.min(99, usual + 4 * (draw() - 0.5))))
        }
        if (typeof state['measure_co2'] === 'number') {
          const isInUse = zone === 'office' ? hub.get('plug-office-computer')?.state['onoff'] === true : time > 17
          say(id, 'measure_co2', Math.round(state['measure_co2'] * 0.97 + 12 + 2 * draw() + (isInUse ? 12 : 0)))
        }
        if (typeof state['measure_battery'] === 'number' && at % day === 0)
          say(id, 'measure_battery', Math.max(0, tenths(state['measure_battery'] - 0.1)))
        if (typeof state['meter_power'] === 'number' && typeof state['measure_power'] === 'number') {
          const used = (state['measure_power'] * (step / hour)) / 1000
          say(id, 'meter_power', Math.round((state['meter_power'] + used) * 1e4) / 1e4)
        }
      }
      say('sensor-garden-weather', 'measure_luminance', Math.round(daylight))
      // Light from the window comes first, because flows check how dark it is when someone moves.
      say('sensor-hallway-motion', 'measure_luminance', Math.round(daylight / 50))
      say('sensor-hallway-motion', 'alarm_motion', isMoving)
      say('sensor-front-door', 'alarm_contact', isDoorOpen)
      return changes
    },
  }

  /** A room loses warmth to the outside and gains it while its thermostat heats. */
  function warmRooms(outdoor: number, hub: DeviceHub): void {
    for (const zone of new Set(hub.all().map((device) => device.zone))) {
      const heater = hub.get(zone === 'bedroom' ? 'thermostat-bedroom' : 'thermostat-living')
      const before = rooms.get(zone) ?? 19
      rooms.set(
        zone,
        before + (outdoor - before) * (draughts[zone] ?? 0.003) + (heater?.state['heating'] === true ? 0.13 : 0),
      )
    }
  }
}

function regulate(device: Device, warmth: number, at: number): Change[] {
  const say = (capability: string, value: boolean | number): Change => ({ device: device.id, capability, value })
  const { thermostat_mode: mode, target_temperature: target, heating } = device.state
  const planned =
    mode === 'auto' ? schedule[device.id]?.find(([time]) => Math.abs(time - getHour(at)) < 1e-6) : undefined
  const wanted = planned?.[1] ?? Number(target)
  // Heating starts a little below the target and stops a little above it, so that it does not flicker.
  const isHeating = mode !== 'off' && warmth < wanted + (heating === true ? 0.2 : -0.2)
  return [...(planned ? [say('target_temperature', wanted)] : []), say('heating', isHeating)]
}

/** How likely someone is to walk through the hallway during a step. */
function bustle(time: number): number {
  if (time < 6.5 || time > 23) return 0.01
  if (time < 9 || time > 17) return 0.25
  return 0.06
}

const tenths = (value: number): number => Math.round(value * 10) / 10

/** Mulberry32: numbers from 0 to 1, the same for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
