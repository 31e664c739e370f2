import { defineTool, fail, ok, type AnyTool } from 'foldout'
import * as z from 'zod'
import { answer, deviceState, nowText, setAndTell } from './answers.ts'
import { settableNames, switchableNames } from './capabilities.ts'
import { canSet } from './device-hub.ts'
import { deviceLabel, findDevice } from './find.ts'
import type { Home } from './home.ts'
import { lightChanges, lightFields, lightValues } from './lights.ts'
import type { Change, Device } from './model.ts'

type ControlTool = 'set_light' | 'set_thermostat' | 'control_device' | 'toggle_device'

export function controlTools(home: Home): Readonly<Record<ControlTool, AnyTool>> {
  return {
    set_light: defineTool({
      name: 'set_light',
      description:
        'Switch one light on or off and set its brightness, color or white temperature, in one call. Not every light ' +
        'has every setting; get_home_structure tells which capabilities it has (dim, light_hue, light_temperature). ' +
        'Setting brightness or color switches it on. For all lights of a room use control_zone_lights.',
      params: z.strictObject({
        device_id: z.string().describe('Id of the light, such as light-living-floor.'),
        ...lightFields,
      }),
      execute: ({ device_id, ...setting }) =>
        answer(() => {
          const light = findDevice(home, device_id)
          if (light.class !== 'light') {
            return fail(`${deviceLabel(home, light)} is a ${light.class}, not a light. Use control_device for it.`)
          }
          return change(light, lightChanges(light, lightValues(setting)))
        }),
    }),

    set_thermostat: defineTool({
      name: 'set_thermostat',
      description:
        'Set the target temperature or the mode of a thermostat or radiator valve. The heating follows ' +
        'within five minutes and the room slowly. In mode auto the schedule of the thermostat overwrites the target ' +
        'at its next switching time; in mode heat the target stays. The answer tells the measured temperature too.',
      params: z.strictObject({
        device_id: z.string().describe('Id of the thermostat, such as thermostat-living.'),
        target_temperature: z
          .number()
          .min(5)
          .max(30)
          .multipleOf(0.5)
          .optional()
          .describe('In °C, in steps of 0.5. Leave it out to change the mode only.'),
        mode: z
          .enum(['heat', 'auto', 'off'])
          .optional()
          .describe('heat: keep the target. auto: follow the schedule. off: do not heat.'),
      }),
      execute: ({ device_id, target_temperature, mode }) =>
        answer(() => {
          const thermostat = findDevice(home, device_id)
          if (thermostat.class !== 'thermostat') {
            const others = home.devices().filter((device) => device.class === 'thermostat')
            return fail(
              `${deviceLabel(home, thermostat)} is a ${thermostat.class}, not a thermostat. Thermostats are ` +
                `${others.map((device) => deviceLabel(home, device)).join(', ')}.`,
            )
          }
          const set = (capability: string, value: string | number): Change => ({
            device: thermostat.id,
            capability,
            value,
          })
          const changes = [
            ...(mode === undefined ? [] : [set('thermostat_mode', mode)]),
            ...(target_temperature === undefined ? [] : [set('target_temperature', target_temperature)]),
          ]
          if (changes.length === 0) return fail('Nothing to set. Give target_temperature, mode or both.')
          return change(thermostat, changes)
        }),
    }),

    control_device: defineTool({
      name: 'control_device',
      description:
        'Set one capability of one device to a value: blinds, speakers, locks, sockets, or anything that no other tool ' +
        'covers. Values are raw: dim, volume_set and windowcoverings_set go from 0 to 1, not in percent. Capabilities ' +
        'named measure_, meter_ and alarm_ are read only. For lights prefer set_light, for heating set_thermostat.',
      params: z.strictObject({
        device_id: z.string().describe('Id of the device, such as blinds-living.'),
        capability: z.enum(settableNames).describe('What to set. The device must have it; see get_home_structure.'),
        value: z
          .union([z.boolean(), z.number(), z.string()])
          .describe(
            'true or false for onoff, locked and speaker_playing; 0 to 1 for dim, light_*, volume_set and ' +
              'windowcoverings_set (1 is open); °C for target_temperature; a word for the modes.',
          ),
      }),
      execute: ({ device_id, capability, value }) =>
        answer(() => {
          const device = findDevice(home, device_id)
          return change(device, [{ device: device.id, capability, value }])
        }),
    }),

    toggle_device: defineTool({
      name: 'toggle_device',
      description:
        'Switch a device to the other of its two states: on to off, locked to unlocked, playing to paused. The answer ' +
        'tells the new state. If you know which state is wanted, use set_light or control_device, which do no harm when ' +
        'called twice.',
      params: z.strictObject({
        device_id: z.string().describe('Id of the device, such as plug-living-tv.'),
        capability: z
          .enum(switchableNames)
          .optional()
          .describe('What to toggle. Default: onoff, or the only one of these that the device has.'),
      }),
      execute: ({ device_id, capability }) =>
        answer(() => {
          const device = findDevice(home, device_id)
          const switched = capability ?? switchableNames.find((name) => canSet(device, name))
          if (switched === undefined) {
            return fail(
              `${deviceLabel(home, device)} has nothing to toggle. It has ${Object.keys(device.state).join(', ')}.`,
            )
          }
          return change(device, [{ device: device.id, capability: switched, value: !device.state[switched] }])
        }),
    }),
  }

  function change(device: Device, changes: readonly Change[]): ReturnType<typeof ok> {
    const { changed, aside } = setAndTell(home, changes)
    return ok(`${nowText(home, device.id, changed)}${aside}`, deviceState(home.device(device.id)!))
  }
}
