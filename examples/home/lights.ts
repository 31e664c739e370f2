// Shared by set_light and control_zone_lights.
import * as z from 'zod'
import { coldest, parseColor, getTemperature, warmest } from './colors.ts'
import { HomeError, type Change, type Device, type Value } from './model.ts'

export const lightFields = {
  on: z.boolean().optional().describe('True to switch on, false to switch off. False goes with no other setting.'),
  brightness: z.number().min(0).max(100).optional().describe('Percent. 0 switches off, anything else on.'),
  color: z
    .string()
    .optional()
    .describe('Color name (red, orange, yellow, green, cyan, blue, purple, pink) or hex such as #ff8800.'),
  color_temperature: z
    .number()
    .min(warmest)
    .max(coldest)
    .optional()
    .describe('White in Kelvin, from 2200 (warm) to 6500 (cold). Not together with color.'),
}

export interface LightSetting {
  readonly on?: boolean | undefined
  readonly brightness?: number | undefined
  readonly color?: string | undefined
  readonly color_temperature?: number | undefined
}

/** The capabilities and values of a setting. Throws if the setting contradicts itself. */
export function lightValues(setting: LightSetting): readonly (readonly [capability: string, value: Value])[] {
  const { on, brightness, color, color_temperature: kelvin } = setting
  const others = [brightness, color, kelvin].filter((one) => one !== undefined)
  if (on === undefined && others.length === 0) {
    throw new HomeError('Nothing to set. Give at least one of on, brightness, color and color_temperature.')
  }
  if (on === false && others.length > 0) {
    throw new HomeError('on: false contradicts brightness, color and color_temperature. Leave one or the others out.')
  }
  if (color !== undefined && kelvin !== undefined) {
    throw new HomeError('A light shows color or color_temperature, not both. Leave one of them out.')
  }
  const values: (readonly [string, Value])[] = []
  if (color !== undefined) {
    const { hue, saturation } = parseColor(color)
    values.push(['light_hue', hue], ['light_saturation', saturation])
  }
  if (kelvin !== undefined) values.push(['light_temperature', getTemperature(kelvin)])
  if (brightness !== undefined) values.push(['dim', Math.round(brightness) / 100])
  else values.push(['onoff', on ?? true])
  return values
}

/** The part of a setting that one light supports. */
export function lightChanges(light: Device, values: ReturnType<typeof lightValues>): Change[] {
  return values.map(([capability, value]) => ({ device: light.id, capability, value }))
}
