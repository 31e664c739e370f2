import { describe, expect, it } from 'vitest'
import type { Home } from '../../examples/home/home.ts'
import { stage } from './stage.ts'

/** Everything a call could have changed. */
const everything = (home: Home): unknown =>
  structuredClone([home.devices(), home.flows(), home.flowRuns(), home.notifications()])
const shared = stage()

describe('bad input', () => {
  it.each([
    [
      'set_light',
      { device_id: 'light-kichen-ceiling', on: true },
      "There is no device 'light-kichen-ceiling'. Nearest: light-kitchen-ceiling (Ceiling light, Kitchen)",
    ],
    [
      'set_light',
      { device_id: 'ceiling light', on: true },
      "4 devices are called 'ceiling light': light-living-ceiling (Ceiling light, Living room), ",
    ],
    ['set_light', { device_id: 'light-living-floor' }, 'Nothing to set. Give at least one of on, brightness'],
    [
      'set_light',
      { device_id: 'light-living-floor', on: false, brightness: 10 },
      'on: false contradicts brightness, color and color_temperature.',
    ],
    [
      'set_light',
      { device_id: 'light-living-floor', color: 'red', color_temperature: 3000 },
      'A light shows color or color_temperature, not both.',
    ],
    [
      'set_light',
      { device_id: 'light-living-floor', color: 'purpel' },
      "'purpel' is not a known color. Nearest names: purple, ",
    ],
    [
      'set_light',
      { device_id: 'light-hallway-ceiling', brightness: 5, color: 'red' },
      "Ceiling light (light-hallway-ceiling) has no capability 'light_hue'. It has onoff, dim.",
    ],
    [
      'set_light',
      { device_id: 'plug-living-tv', on: true },
      'plug-living-tv (TV, Living room) is a socket, not a light. Use control_device for it.',
    ],
    [
      'set_light',
      { device_id: 'light-living-floor', brightness: 180 },
      "Wrong arguments for tool 'set_light': brightness",
    ],
    [
      'set_light',
      { device_id: 'light-living-floor', on: true, colour: 'red' },
      "Wrong arguments for tool 'set_light': ",
    ],
    [
      'set_thermostat',
      { device_id: 'thermostat-living', target_temperature: 45 },
      "Wrong arguments for tool 'set_therm",
    ],
    ['set_thermostat', { device_id: 'thermostat-living' }, 'Nothing to set. Give target_temperature, mode or both.'],
    [
      'set_thermostat',
      { device_id: 'sensor-living-climate', target_temperature: 20 },
      'sensor-living-climate (Climate sensor, Living room) is a sensor, not a thermostat. Thermostats are thermostat-living (Thermostat, Living room), thermostat-bedroom (Radiator valve, Bedroom).',
    ],
    [
      'control_device',
      { device_id: 'blinds-living', capability: 'windowcoverings_set', value: 50 },
      'windowcoverings_set takes a number from 0 to 1, not 50.',
    ],
    [
      'control_device',
      { device_id: 'plug-living-tv', capability: 'onoff', value: 'on' },
      'onoff takes true (on) or false (off), not "on".',
    ],
    [
      'control_device',
      { device_id: 'thermostat-living', capability: 'thermostat_mode', value: 'cool' },
      "thermostat_mode takes 'heat' or 'auto' or 'off', not \"cool\".",
    ],
    [
      'control_device',
      { device_id: 'blinds-living', capability: 'dim', value: 1 },
      "Blinds (blinds-living) has no capability 'dim'. It has windowcoverings_set.",
    ],
    [
      'control_device',
      { device_id: 'sensor-living-climate', capability: 'measure_temperature', value: 21 },
      "Wrong arguments for tool 'control_device': capability",
    ],
    [
      'control_device',
      { device_id: 'plug-garden-pump', capability: 'onoff', value: true },
      'Pond pump (plug-garden-pump) cannot be reached: its app com.raingarden does not run (crashed). Nothing was changed.',
    ],
    [
      'toggle_device',
      { device_id: 'meter-main' },
      'meter-main (Smart meter, Hallway) has nothing to toggle. It has measure_power, meter_power.',
    ],
    [
      'toggle_device',
      { device_id: 'blinds-living', capability: 'locked' },
      "Blinds (blinds-living) has no capability 'locked'.",
    ],
    ['control_zone_lights', { zone_id: 'kitchn', on: true }, "There is no zone 'kitchn'. Nearest: kitchen (Kitchen), "],
    ['control_zone_lights', { zone_id: 'garage', on: true }, 'There are no lights in Garage (garage).'],
    [
      'control_zone_capability',
      { zone_id: 'home', capability: 'dim', value: 80 },
      'dim takes a number from 0 to 1, not 80.',
    ],
    [
      'control_zone_capability',
      { zone_id: 'garden', capability: 'locked', value: true },
      'No device in Garden (garden) has locked.',
    ],
    [
      'control_zone_capability',
      { zone_id: 'garden', capability: 'onoff', value: true, device_class: 'socket' },
      'Nothing was changed, because nothing could be reached: plug-garden-pump (Pond pump, Garden): ',
    ],
    ['trigger_any_flow', { flow: 'good nite' }, "There is no flow 'good nite'. Nearest: good-night (Good night)"],
    [
      'trigger_any_flow',
      { flow: 'Vacation lights' },
      "Flow 'Vacation lights' (vacation) is disabled and was not started. It can be enabled in the app.",
    ],
    ['get_home_structure', { zone_id: 'attic' }, "There is no zone 'attic'. Nearest: "],
    ['get_states', { device_ids: ['light-living'] }, "There is no device 'light-living'. Nearest: light-living-"],
    ['get_states', { capability: 'temperature' }, "Wrong arguments for tool 'get_states': capability"],
    [
      'get_insight_data',
      { log_id: 'thermostat-living:temperature' },
      "There is no insight log 'thermostat-living:temperature'. Nearest: thermostat-living:",
    ],
    ['get_insight_logs', { device_id: 'sauna' }, "There is no device 'sauna'. Nearest: "],
    [
      'get_insight_data',
      { log_id: 'meter-main:meter_power', period: 'last_year' },
      "Wrong arguments for tool 'get_ins",
    ],
  ])('R47 %s %j fails with a message that says why, and changes nothing', async (name, args, message) => {
    const before = everything(shared.home)
    const result = await shared.call(name, args)
    expect(result.ok).toBe(false)
    expect(result.message.slice(0, message.length)).toBe(message)
    expect(everything(shared.home)).toEqual(before)
  })

  it('R47 time does not run backwards', () => {
    expect(() => shared.home.advance(-5)).toThrow('Time passes in whole minutes, not -5.')
  })
})
