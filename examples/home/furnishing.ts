// The example's home: a house with two floors, a garden and a garage, and its devices.
import type { App, Device, DeviceClass, Value, Zone } from './model.ts'

export const zones: readonly Zone[] = [
  { id: 'home', name: 'Home', parent: undefined },
  { id: 'ground-floor', name: 'Ground floor', parent: 'home' },
  { id: 'living-room', name: 'Living room', parent: 'ground-floor' },
  { id: 'kitchen', name: 'Kitchen', parent: 'ground-floor' },
  { id: 'hallway', name: 'Hallway', parent: 'ground-floor' },
  { id: 'first-floor', name: 'First floor', parent: 'home' },
  { id: 'bedroom', name: 'Bedroom', parent: 'first-floor' },
  { id: 'bathroom', name: 'Bathroom', parent: 'first-floor' },
  { id: 'office', name: 'Office', parent: 'first-floor' },
  { id: 'garden', name: 'Garden', parent: 'home' },
  { id: 'garage', name: 'Garage', parent: 'home' },
]

export const apps: readonly App[] = [
  { id: 'com.lumen', name: 'Lumen Lights', version: '5.2.1', state: 'running', update: undefined },
  { id: 'com.hearth', name: 'Hearth Climate', version: '2.8.0', state: 'running', update: '2.9.1' },
  { id: 'com.socketry', name: 'Socketry', version: '1.14.3', state: 'running', update: undefined },
  { id: 'com.sensa', name: 'Sensa Sensors', version: '3.0.7', state: 'running', update: '3.1.0' },
  { id: 'com.doorman', name: 'Doorman Locks and Blinds', version: '4.4.0', state: 'running', update: undefined },
  { id: 'com.tonal', name: 'Tonal Speakers', version: '1.0.12', state: 'running', update: undefined },
  { id: 'com.raingarden', name: 'Rain Garden', version: '0.9.2', state: 'crashed', update: '0.9.4' },
  { id: 'com.tariff', name: 'Energy Tariffs', version: '2.1.0', state: 'stopped', update: undefined },
]

interface Extras {
  readonly watts?: number
  readonly app?: string
  readonly unavailable?: string
}

const standardApp: Readonly<Record<DeviceClass, string>> = {
  light: 'com.lumen',
  socket: 'com.socketry',
  thermostat: 'com.hearth',
  sensor: 'com.sensa',
  blinds: 'com.doorman',
  speaker: 'com.tonal',
  lock: 'com.doorman',
}

function device(
  zone: string,
  kind: DeviceClass,
  id: string,
  name: string,
  state: Readonly<Record<string, Value>>,
  { watts = 0, app = standardApp[kind], unavailable }: Extras = {},
): Device {
  const appState = apps.find((one) => one.id === app)?.state
  const why = appState === 'running' ? unavailable : `its app ${app} does not run (${appState ?? 'missing'})`
  return { id, name, zone, class: kind, app, state, watts, unavailable: why }
}

const white = { onoff: false, dim: 1, light_temperature: 0.6 }
const color = { ...white, light_mode: 'temperature', light_hue: 0, light_saturation: 0 }
const plug = { onoff: false, measure_power: 0, meter_power: 0 }
const thermostat = {
  target_temperature: 20,
  measure_temperature: 19,
  thermostat_mode: 'auto',
  heating: false,
}
const climate = { measure_temperature: 19, measure_humidity: 45, measure_battery: 88 }
const blinds = { windowcoverings_set: 1 }

export const devices: readonly Device[] = [
  device('living-room', 'light', 'light-living-ceiling', 'Ceiling light', white, { watts: 18 }),
  device('living-room', 'light', 'light-living-floor', 'Floor lamp', color, { watts: 12 }),
  device('living-room', 'thermostat', 'thermostat-living', 'Thermostat', thermostat),
  device('living-room', 'sensor', 'sensor-living-climate', 'Climate sensor', { ...climate, measure_co2: 480 }),
  device('living-room', 'socket', 'plug-living-tv', 'TV', plug, { watts: 95 }),
  device('living-room', 'blinds', 'blinds-living', 'Blinds', blinds),
  device('living-room', 'speaker', 'speaker-living', 'Speaker', { speaker_playing: false, volume_set: 0.3 }),

  device('kitchen', 'light', 'light-kitchen-ceiling', 'Ceiling light', white, { watts: 20 }),
  device('kitchen', 'light', 'light-kitchen-counter', 'Counter strip', color, { watts: 14 }),
  device('kitchen', 'socket', 'plug-kitchen-coffee', 'Coffee machine', plug, { watts: 1100 }),
  device('kitchen', 'socket', 'plug-kitchen-fridge', 'Fridge', { ...plug, onoff: true }, { watts: 60 }),
  device('kitchen', 'sensor', 'sensor-kitchen-smoke', 'Smoke detector', { alarm_smoke: false, measure_battery: 71 }),

  device('hallway', 'light', 'light-hallway-ceiling', 'Ceiling light', { onoff: false, dim: 1 }, { watts: 9 }),
  device('hallway', 'sensor', 'sensor-hallway-motion', 'Motion sensor', {
    alarm_motion: false,
    measure_luminance: 0,
    measure_battery: 54,
  }),
  device('hallway', 'lock', 'lock-front-door', 'Front door lock', { locked: true, measure_battery: 63 }),
  device('hallway', 'sensor', 'sensor-front-door', 'Front door contact', { alarm_contact: false, measure_battery: 92 }),
  device('hallway', 'sensor', 'meter-main', 'Smart meter', { measure_power: 0, meter_power: 0 }),

  device('bedroom', 'light', 'light-bedroom-ceiling', 'Ceiling light', white, { watts: 15 }),
  device('bedroom', 'light', 'light-bedroom-bedside', 'Bedside lamp', color, { watts: 8 }),
  device('bedroom', 'thermostat', 'thermostat-bedroom', 'Radiator valve', { ...thermostat, target_temperature: 17 }),
  device('bedroom', 'sensor', 'sensor-bedroom-climate', 'Climate sensor', climate),
  device('bedroom', 'blinds', 'blinds-bedroom', 'Blinds', blinds),

  device('bathroom', 'light', 'light-bathroom-mirror', 'Mirror light', white, { watts: 10 }),
  device('bathroom', 'sensor', 'sensor-bathroom-climate', 'Climate sensor', climate),
  device('bathroom', 'socket', 'plug-bathroom-fan', 'Fan', plug, { watts: 25 }),

  device('office', 'light', 'light-office-desk', 'Desk lamp', white, { watts: 11 }),
  device('office', 'socket', 'plug-office-computer', 'Computer', plug, { watts: 140 }),
  device('office', 'sensor', 'sensor-office-climate', 'Climate sensor', { ...climate, measure_co2: 520 }),

  device('garden', 'light', 'light-garden-path', 'Path lights', { onoff: false }, { watts: 30 }),
  device('garden', 'sensor', 'sensor-garden-weather', 'Weather station', {
    measure_temperature: 4,
    measure_humidity: 80,
    measure_luminance: 0,
  }),
  device('garden', 'socket', 'plug-garden-pump', 'Pond pump', plug, { watts: 45, app: 'com.raingarden' }),

  device(
    'garage',
    'sensor',
    'sensor-garage-door',
    'Garage door contact',
    { alarm_contact: false, measure_battery: 3 },
    { unavailable: 'it has not been heard from for two days' },
  ),
]
