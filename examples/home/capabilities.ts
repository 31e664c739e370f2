// What devices can do and measure: the name, the values and the unit of each capability.
import { HomeError, type Value } from './model.ts'

export interface NumberCapability {
  readonly type: 'number'
  readonly title: string
  readonly min: number
  readonly max: number
  readonly unit: string
  readonly settable: boolean
}

export interface BooleanCapability {
  readonly type: 'boolean'
  readonly title: string
  /** The words for true and false. */
  readonly words: readonly [string, string]
  readonly settable: boolean
}

export interface EnumCapability {
  readonly type: 'enum'
  readonly title: string
  readonly values: readonly string[]
  readonly settable: boolean
}

export type Capability = NumberCapability | BooleanCapability | EnumCapability

const settable = true
const measured = false

const number = (
  title: string,
  unit: string,
  [min, max]: readonly [number, number],
  settable: boolean,
): NumberCapability => ({
  type: 'number',
  title,
  min,
  max,
  unit,
  settable,
})
const boolean = (title: string, words: readonly [string, string], settable: boolean): BooleanCapability => ({
  type: 'boolean',
  title,
  words,
  settable,
})

export const capabilities: Readonly<Record<string, Capability>> = {
  onoff: boolean('Power', ['on', 'off'], settable),
  dim: number('Brightness', '', [0, 1], settable),
  light_mode: { type: 'enum', title: 'Light mode', values: ['color', 'temperature'], settable },
  light_hue: number('Hue', '', [0, 1], settable),
  light_saturation: number('Saturation', '', [0, 1], settable),
  light_temperature: number('Light temperature', '', [0, 1], settable),
  target_temperature: number('Target temperature', '°C', [5, 30], settable),
  thermostat_mode: { type: 'enum', title: 'Thermostat mode', values: ['heat', 'auto', 'off'], settable },
  heating: boolean('Heating', ['heating', 'idle'], measured),
  windowcoverings_set: number('Blinds position', '', [0, 1], settable),
  volume_set: number('Volume', '', [0, 1], settable),
  speaker_playing: boolean('Playback', ['playing', 'paused'], settable),
  locked: boolean('Lock', ['locked', 'unlocked'], settable),
  measure_temperature: number('Temperature', '°C', [-40, 60], measured),
  measure_humidity: number('Humidity', '%', [0, 100], measured),
  measure_co2: number('CO2', 'ppm', [0, 5000], measured),
  measure_luminance: number('Luminance', 'lx', [0, 100_000], measured),
  measure_power: number('Power use', 'W', [0, 20_000], measured),
  meter_power: number('Energy', 'kWh', [0, 1_000_000], measured),
  measure_battery: number('Battery', '%', [0, 100], measured),
  alarm_motion: boolean('Motion', ['motion', 'no motion'], measured),
  alarm_contact: boolean('Contact', ['open', 'closed'], measured),
  alarm_smoke: boolean('Smoke', ['smoke', 'no smoke'], measured),
}

const named = Object.entries(capabilities)
export const capabilityNames = named.map(([name]) => name)
export const settableNames = named.filter(([, { settable }]) => settable).map(([name]) => name)
/** The capabilities that the home's logs record. */
export const recordedNames = capabilityNames.filter(
  (name) => /^(measure_|meter_|alarm_)/.test(name) || ['onoff', 'target_temperature', 'heating'].includes(name),
)
export const switchableNames = named
  .filter(([, { settable, type }]) => settable && type === 'boolean')
  .map(([name]) => name)

export function getCapability(name: string): Capability {
  const capability = capabilities[name]
  if (!capability)
    throw new HomeError(`There is no capability '${name}'. Capabilities are ${capabilityNames.join(', ')}.`)
  return capability
}

/** Throws if a capability cannot have this value, or cannot be set. */
export function checkValue(name: string, value: Value): void {
  const capability = getCapability(name)
  if (!capability.settable) {
    throw new HomeError(`${name} is measured and cannot be set. What can be set is ${settableNames.join(', ')}.`)
  }
  const problem = describeProblem(capability, value)
  if (problem) throw new HomeError(`${name} takes ${problem}, not ${JSON.stringify(value)}.`)
}

function describeProblem(capability: Capability, value: Value): string | undefined {
  if (capability.type === 'boolean') {
    const [yes, no] = capability.words
    return typeof value === 'boolean' ? undefined : `true (${yes}) or false (${no})`
  }
  if (capability.type === 'enum') {
    const { values } = capability
    return values.includes(value as string) ? undefined : values.map((one) => `'${one}'`).join(' or ')
  }
  const { min, max, unit } = capability
  const isWithin = typeof value === 'number' && value >= min && value <= max
  return isWithin ? undefined : `a number from ${min} to ${max}${unit && ` ${unit}`}`
}

/** Formats a value for people: `on`, `dim 0.8`, `21.5 °C`. */
export function spoken(name: string, value: Value): string {
  const capability = getCapability(name)
  if (capability.type === 'boolean') return capability.words[value ? 0 : 1]
  if (capability.type === 'enum' || !capability.unit) return `${name} ${value}`
  return `${name} ${value} ${capability.unit}`
}
