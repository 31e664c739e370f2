import { defineTool, fail, ok, type AnyTool, type ToolResult } from 'foldout'
import * as z from 'zod'
import { answer, setAndTell } from './answers.ts'
import { checkValue, settableNames, spoken } from './capabilities.ts'
import { canSet } from './device-hub.ts'
import { deviceLabel, findZone } from './find.ts'
import type { Home } from './home.ts'
import { lightChanges, lightFields, lightValues } from './lights.ts'
import { deviceClasses, type Change, type Device, type Zone } from './model.ts'

const zoneId = z.string().describe('Id of a room, a floor or the whole home, such as kitchen, first-floor or home.')
const includeSubzones = z.boolean().default(true).describe('Whether to include the zones within it.')

export function zoneTools(home: Home): Readonly<Record<'control_zone_lights' | 'control_zone_capability', AnyTool>> {
  return {
    control_zone_lights: defineTool({
      name: 'control_zone_lights',
      description:
        'Switch or set all lights of a room, a floor or the whole home in one call. Each light takes over what it can: ' +
        'one without color is only switched on or dimmed. The answer tells which lights were set and which were left out. ' +
        'For a single light use set_light.',
      params: z.strictObject({ zone_id: zoneId, ...lightFields, include_subzones: includeSubzones }),
      execute: ({ zone_id, include_subzones, ...setting }) =>
        answer(() => {
          const zone = findZone(home, zone_id)
          const values = lightValues(setting)
          const lights = devicesIn(zone, include_subzones).filter((device) => device.class === 'light')
          if (lights.length === 0) return fail(`There are no lights in ${zone.name} (${zone.id}).`)
          return changeAll(zone, lights, (light) => {
            const able = lightChanges(light, values).filter(({ capability }) => canSet(light, capability))
            // A light that cannot be dimmed can still be switched on or off.
            const dim = values.find(([capability]) => capability === 'dim')?.[1]
            if (dim === undefined || canSet(light, 'dim')) return able
            return [...able, { device: light.id, capability: 'onoff', value: dim !== 0 }]
          })
        }),
    }),

    control_zone_capability: defineTool({
      name: 'control_zone_capability',
      description:
        'Set one capability of every device in a room, a floor or the whole home that has it: close all blinds, switch off ' +
        'all sockets, set every thermostat. Values are raw, as in control_device. The answer tells which devices were set ' +
        'and which could not be reached. Give device_class with onoff, or lights and sockets (fridge included) are switched alike.',
      params: z.strictObject({
        zone_id: zoneId,
        capability: z.enum(settableNames).describe('What to set. Devices without it are left alone.'),
        value: z
          .union([z.boolean(), z.number(), z.string()])
          .describe('true or false, 0 to 1, °C or a word, as the capability has it.'),
        device_class: z.enum(deviceClasses).optional().describe('Only devices of this class.'),
        include_subzones: includeSubzones,
      }),
      execute: ({ zone_id, capability, value, device_class, include_subzones }) =>
        answer(() => {
          const zone = findZone(home, zone_id)
          checkValue(capability, value)
          const targets = devicesIn(zone, include_subzones)
            .filter((device) => !device_class || device.class === device_class)
            .filter((device) => canSet(device, capability))
          if (targets.length === 0) {
            return fail(`No ${device_class ?? 'device'} in ${zone.name} (${zone.id}) has ${capability}.`)
          }
          return changeAll(zone, targets, (device) => [{ device: device.id, capability, value }])
        }),
    }),
  }

  function devicesIn(zone: Zone, includeSubzones: boolean): Device[] {
    const zones = new Set(includeSubzones ? home.zonesWithin(zone.id).map(({ id }) => id) : [zone.id])
    return home.devices().filter((device) => zones.has(device.zone))
  }

  function changeAll(zone: Zone, devices: readonly Device[], changesOf: (device: Device) => Change[]): ToolResult {
    const reached = devices.filter((device) => !device.unavailable)
    const missed = devices.filter((device) => device.unavailable)
    const plans = reached.map((device) => ({ device, changes: changesOf(device) }))
    const missedText = missed.map((device) => `${deviceLabel(home, device)}: ${device.unavailable}`).join('; ')
    if (reached.length === 0) return fail(`Nothing was changed, because nothing could be reached: ${missedText}.`)
    const { changed, aside } = setAndTell(
      home,
      plans.flatMap(({ changes }) => changes),
    )
    const lines = plans.map(({ device, changes }) => {
      const values = changes.map(({ capability }) => spoken(capability, home.device(device.id)!.state[capability]!))
      return `- ${deviceLabel(home, device)}: ${values.join(', ')}`
    })
    const text = [
      `Set ${reached.length} of ${devices.length} in ${zone.name}.${aside}`,
      ...lines,
      ...(missedText ? [`Could not be reached: ${missedText}.`] : []),
    ].join('\n')
    return ok(text, {
      set: reached.map(({ id }) => id),
      changed,
      unreachable: missed.map(({ id }) => id),
    })
  }
}
