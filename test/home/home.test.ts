import type { ToolResult } from 'foldout'
import { countTokens } from 'gpt-tokenizer'
import { describe, expect, it } from 'vitest'
import { createHome, type Home } from '../../examples/home/home.ts'
import { coreTools, homeCategories, homeMetadata } from '../../examples/home/metadata.ts'
import { homeTools } from '../../examples/home/tools.ts'
import { stage, getState } from './stage.ts'

describe('the tools', () => {
  const tools = homeTools(createHome())
  const names = tools.map(({ name }) => name)

  it('R47 are fourteen, each with its metadata', () => {
    expect(names).toEqual([
      'get_home_structure',
      'get_states',
      'trigger_any_flow',
      'get_flow_overview',
      'set_light',
      'set_thermostat',
      'control_device',
      'toggle_device',
      'control_zone_lights',
      'control_zone_capability',
      'get_insight_logs',
      'get_insight_data',
      'get_installed_apps',
      'refresh_homey_flows',
    ])
    expect(Object.keys(homeMetadata)).toEqual(names)
    expect(coreTools.filter((name) => !names.includes(name))).toEqual([])
    expect(new Set(Object.values(homeMetadata).map(({ category }) => category))).toEqual(new Set(homeCategories))
    for (const { shortDescription } of Object.values(homeMetadata)) {
      expect(shortDescription.length).toBeGreaterThan(25)
      expect(shortDescription.length).toBeLessThan(60)
    }
  })

  it('R47 cost about as much to list as a real server of this size, and describe every field', () => {
    const tokens = tools.map(({ name, description, inputSchema }) =>
      countTokens(JSON.stringify({ name, description, inputSchema })),
    )
    const total = tokens.reduce((sum, one) => sum + one, 0)
    expect(total).toBeGreaterThan(2400)
    expect(total).toBeLessThan(3300)
    for (const { name, inputSchema } of tools) {
      const fields = Object.entries(inputSchema['properties'] as Record<string, { readonly description?: string }>)
      const silent = fields.filter(([, { description }]) => !description).map(([field]) => `${name}.${field}`)
      expect(silent).toEqual([])
    }
  })
})

describe('reading', () => {
  it('R47 get_home_structure returns floors, rooms and devices', async () => {
    const { call } = stage()
    const whole = await call('get_home_structure')
    expect(whole.message).toContain('Home (home)\n  Ground floor (ground-floor)\n    Living room (living-room)\n')
    const office = await call('get_home_structure', { zone_id: 'Office' })
    expect(office.message).toBe(
      [
        'Office (office)',
        '- light-office-desk "Desk lamp", light: onoff, dim, light_temperature',
        '- plug-office-computer "Computer", socket: onoff, measure_power, meter_power',
        '- sensor-office-climate "Climate sensor", sensor: measure_temperature, measure_humidity, measure_battery, measure_co2',
      ].join('\n'),
    )
    const floor = await call('get_home_structure', { zone_id: 'first-floor', include_devices: false })
    expect(floor.message).toBe(
      'First floor (first-floor)\n  Bedroom (bedroom)\n  Bathroom (bathroom)\n  Office (office)',
    )
  })

  it('R47 get_states returns current values by device, zone, class and capability', async () => {
    const { home, call } = stage()
    home.set([
      { device: 'light-living-ceiling', capability: 'onoff', value: false },
      { device: 'light-living-floor', capability: 'dim', value: 0.4 },
    ])
    const lights = { zone_id: 'living-room', device_class: 'light', capability: 'onoff' }
    const text = (floor: string): string =>
      `At 2026-01-12 19:00:\nLiving room\n- light-living-ceiling "Ceiling light": off\n- light-living-floor "Floor lamp": ${floor}`
    expect((await call('get_states', lights)).message).toBe(text('on'))
    home.set([{ device: 'light-living-floor', capability: 'onoff', value: false }])
    expect((await call('get_states', lights)).message).toBe(text('off'))
    const two = await call('get_states', { device_ids: ['blinds-living', 'sensor-garage-door'] })
    expect(two.message).toBe(
      'At 2026-01-12 19:00:\nLiving room\n- blinds-living "Blinds": windowcoverings_set 1\nGarage\n- sensor-garage-door ' +
        '"Garage door contact": closed, measure_battery 3 % (last known: cannot be reached, it has not been heard from for two days)',
    )
    const none = await call('get_states', { zone_id: 'garage', capability: 'measure_co2' })
    expect(none.message).toBe('No device fits these filters.')
  })

  it('R47 get_installed_apps shows which app makes a device unreachable', async () => {
    const { call } = stage()
    expect((await call('get_installed_apps', { state: 'crashed' })).message).toBe(
      '- com.raingarden "Rain Garden" 0.9.2, crashed, update to 0.9.4: plug-garden-pump',
    )
    const updates = await call('get_installed_apps', { updates_only: true })
    expect(updates).toMatchObject({
      value: [{ id: 'com.hearth' }, { id: 'com.sensa' }, { id: 'com.raingarden', devices: ['plug-garden-pump'] }],
    })
  })
})

describe('one device', () => {
  it('R47 set_light sets power, brightness and color of a light', async () => {
    const { home, call } = stage()
    const result = await call('set_light', { device_id: 'light-living-floor', brightness: 80, color: 'orange' })
    expect(result.message).toBe(
      'light-living-floor (Floor lamp, Living room) is now: on, dim 0.8, light_temperature 0.6, light_mode color, light_hue 0.08, light_saturation 1.',
    )
    expect(getState(home, 'light-living-floor')).toMatchObject({ onoff: true, dim: 0.8, light_mode: 'color' })
    await call('set_light', { device_id: 'light-living-floor', color_temperature: 2200 })
    expect(getState(home, 'light-living-floor')).toMatchObject({ light_mode: 'temperature', light_temperature: 1 })
    await call('set_light', { device_id: 'Living room floor lamp', on: false })
    expect(getState(home, 'light-living-floor')).toMatchObject({ onoff: false, dim: 0.8 })
    const again = await call('set_light', { device_id: 'light-living-floor', on: false })
    expect(again.message).toMatch(/^light-living-floor \(Floor lamp, Living room\) already was: off/)
    await call('set_light', { device_id: 'light-living-floor', color: '#00ff00' })
    expect(getState(home, 'light-living-floor')).toMatchObject({ onoff: true, light_hue: 0.33, light_saturation: 1 })
    await call('set_light', { device_id: 'light-living-floor', brightness: 0 })
    expect(getState(home, 'light-living-floor')).toMatchObject({ onoff: false, dim: 0 })
    await call('set_light', { device_id: 'light-living-floor', on: true })
    expect(getState(home, 'light-living-floor')).toMatchObject({ onoff: true, dim: 1 })
  })

  it('R47 set_thermostat sets a target that the room gradually reaches', async () => {
    const { home, call } = stage()
    const result = await call('set_thermostat', {
      device_id: 'thermostat-living',
      target_temperature: 23,
      mode: 'heat',
    })
    expect(result.message).toMatch(
      /^thermostat-living \(Thermostat, Living room\) is now: target_temperature 23 °C, measure_temperature [\d.]+ °C, thermostat_mode heat/,
    )
    // At half past eleven the good-night flow lowers it.
    home.advance(8 * 60)
    expect(getState(home, 'thermostat-living')['target_temperature']).toBe(17)
    home.advance(5 * 60)
    await call('set_thermostat', { device_id: 'thermostat-living', target_temperature: 23 })
    home.advance(7 * 60)
    expect(getState(home, 'thermostat-living')['measure_temperature']).toBeGreaterThan(22.5)
    await call('set_thermostat', { device_id: 'thermostat-living', mode: 'off' })
    home.advance(6 * 60)
    expect(getState(home, 'thermostat-living')['measure_temperature']).toBeLessThan(22)
    expect(getState(home, 'thermostat-living')['heating']).toBe(false)
  })

  it('R47 a thermostat in auto mode returns to its schedule, one in heat mode does not', async () => {
    const { home, call } = stage()
    await call('set_thermostat', { device_id: 'thermostat-bedroom', target_temperature: 22, mode: 'heat' })
    home.advance(3 * 60)
    expect(getState(home, 'thermostat-bedroom')['target_temperature']).toBe(22)
    await call('set_thermostat', { device_id: 'thermostat-bedroom', mode: 'auto' })
    home.advance(24 * 60)
    expect(getState(home, 'thermostat-bedroom')['target_temperature']).toBe(18)
  })

  it('R47 control_device sets any capability, and says which flow that triggered', async () => {
    const { home, call } = stage()
    await call('control_device', { device_id: 'blinds-living', capability: 'windowcoverings_set', value: 0.25 })
    expect(getState(home, 'blinds-living')['windowcoverings_set']).toBe(0.25)
    await call('set_light', { device_id: 'light-hallway-ceiling', on: false })
    const unlocked = await call('control_device', { device_id: 'lock-front-door', capability: 'locked', value: false })
    expect(unlocked.message).toBe(
      'lock-front-door (Front door lock, Hallway) is now: unlocked, measure_battery 62.3 %. This set off the flow coming-home.',
    )
    expect(getState(home, 'light-hallway-ceiling')).toEqual({ onoff: true, dim: 0.7 })
  })

  it('R47 toggle_device switches on and off, and the power use follows', async () => {
    const { home, call } = stage()
    const before = Number(getState(home, 'meter-main')['measure_power'])
    await call('toggle_device', { device_id: 'TV' })
    expect(getState(home, 'plug-living-tv')['onoff']).toBe(true)
    expect(Number(getState(home, 'meter-main')['measure_power']) - before).toBeGreaterThan(80)
    await call('toggle_device', { device_id: 'TV' })
    expect(getState(home, 'plug-living-tv')).toMatchObject({ onoff: false, measure_power: 0 })
    expect(getState(home, 'meter-main')['measure_power']).toBe(before)
    await call('toggle_device', { device_id: 'speaker-living' })
    expect(getState(home, 'speaker-living')['speaker_playing']).toBe(true)
  })
})

describe('zones', () => {
  it('R47 control_zone_lights sets what each light of a floor supports', async () => {
    const { home, call } = stage()
    const result = await call('control_zone_lights', { zone_id: 'Ground floor', brightness: 40, color: 'blue' })
    expect(result.message).toBe(
      [
        'Set 5 of 5 in Ground floor.',
        '- light-living-ceiling (Ceiling light, Living room): dim 0.4',
        '- light-living-floor (Floor lamp, Living room): light_hue 0.67, light_saturation 1, dim 0.4',
        '- light-kitchen-ceiling (Ceiling light, Kitchen): dim 0.4',
        '- light-kitchen-counter (Counter strip, Kitchen): light_hue 0.67, light_saturation 1, dim 0.4',
        '- light-hallway-ceiling (Ceiling light, Hallway): dim 0.4',
      ].join('\n'),
    )
    expect(getState(home, 'light-hallway-ceiling')).toEqual({ onoff: true, dim: 0.4 })
    expect(getState(home, 'light-bedroom-ceiling')['onoff']).toBe(false)
    await call('control_zone_lights', { zone_id: 'garden', brightness: 0 })
    expect(getState(home, 'light-garden-path')['onoff']).toBe(false)
    await call('control_zone_lights', { zone_id: 'home', on: false })
    expect(home.devices().filter(({ class: kind, state }) => kind === 'light' && state['onoff'])).toEqual([])
    const own = await call('control_zone_lights', { zone_id: 'home', on: true, include_subzones: false })
    expect(own).toEqual({ ok: false, message: 'There are no lights in Home (home).' })
  })

  it('R47 control_zone_capability sets every device that has the capability, and names those it could not reach', async () => {
    const { home, call } = stage()
    const off = { zone_id: 'home', capability: 'onoff', value: false, device_class: 'socket' }
    const result = await call('control_zone_capability', off)
    expect(result.message).toMatch(/^Set 5 of 6 in Home\.\n/)
    expect(result.message).toMatch(
      /\nCould not be reached: plug-garden-pump \(Pond pump, Garden\): its app com\.raingarden does not run \(crashed\)\.$/,
    )
    expect(getState(home, 'plug-kitchen-fridge')['onoff']).toBe(false)
    await call('control_zone_capability', { zone_id: 'bedroom', capability: 'windowcoverings_set', value: 0 })
    expect(getState(home, 'blinds-bedroom')['windowcoverings_set']).toBe(0)
    expect(getState(home, 'blinds-living')['windowcoverings_set']).toBe(1)
  })
})

describe('flows', () => {
  it('R47 trigger_any_flow does what the flow says', async () => {
    const { home, call } = stage()
    const result = await call('trigger_any_flow', { flow: 'movie time' })
    expect(result.message).toBe(
      "Flow 'Movie time' ran:\n- light-living-ceiling: off\n- light-living-floor: dim 0.2\n- blinds-living: windowcoverings_set 0\n- plug-living-tv: on",
    )
    expect(getState(home, 'light-living-floor')).toMatchObject({ onoff: true, dim: 0.2 })
    expect(getState(home, 'plug-living-tv')['onoff']).toBe(true)
    await call('trigger_any_flow', { flow: 'announce', text: 'Dinner is ready.' })
    expect(home.notifications().at(-1)).toEqual({ at: home.now(), text: 'Dinner is ready.' })
  })

  it('R47 a flow whose condition is not met says so and does nothing', async () => {
    const { home, call } = stage()
    home.advance(17 * 60)
    const before = home.devices()
    const result = await call('trigger_any_flow', { flow: 'coming-home' })
    expect(result.message).toBe(
      `Flow 'Coming home' was started but did nothing: its condition "sensor-hallway-motion is below measure_luminance 30 lx" does not hold.`,
    )
    expect(home.devices()).toEqual(before)
  })

  it('R47 flows run by themselves, at a time or when a sensor changes', () => {
    const { home } = stage()
    home.set([{ device: 'lock-front-door', capability: 'locked', value: false }])
    home.advance(5 * 60)
    expect(getState(home, 'lock-front-door')['locked']).toBe(true)
    expect(home.devices().filter(({ class: kind, state }) => kind === 'light' && state['onoff'])).toEqual([])
    const causes = new Set(home.flowRuns().map(({ cause }) => cause))
    expect(causes).toContain('every day at 23:30')
    expect(causes).toContain('sensor-bathroom-climate goes above measure_humidity 65 %')
    expect(causes).toContain('sensor-hallway-motion becomes motion')
    expect(home.flowRuns().some(({ flow }) => flow === 'vacation')).toBe(false)
  })

  it('R47 flows that trigger each other stop', () => {
    const { home } = stage()
    const base = { folder: 'Loop', kind: 'standard', enabled: true, conditions: [] } as const
    for (const value of [true, false]) {
      home.saveFlow({
        ...base,
        id: `fan-${value}`,
        name: `Fan ${value}`,
        triggers: [{ type: 'becomes', device: 'plug-bathroom-fan', capability: 'onoff', value }],
        actions: [{ type: 'set', device: 'plug-bathroom-fan', capability: 'onoff', value: !value }],
      })
    }
    home.set([{ device: 'plug-bathroom-fan', capability: 'onoff', value: true }])
    expect(home.flowRuns().at(-1)!.flow).toMatch(/^fan-/)
  })

  it('R47 get_flow_overview lists triggers, actions and last runs', async () => {
    const { call } = stage()
    expect((await call('get_flow_overview', { query: 'humidity' })).message).toBe(
      '- bathroom-fan-on "Bathroom fan on" (Climate, standard): sensor-bathroom-climate goes above measure_humidity 65 % → plug-bathroom-fan: on; last ran 2026-01-12 07:05\n' +
        '- bathroom-fan-off "Bathroom fan off" (Climate, standard): sensor-bathroom-climate goes below measure_humidity 58 % → plug-bathroom-fan: off; last ran 2026-01-12 08:45',
    )
    const advanced = await call('get_flow_overview', { type: 'advanced', enabled_only: true })
    expect(advanced).toMatchObject({ value: [{ id: 'good-night' }, { id: 'leaving-home' }, { id: 'movie-time' }] })
    expect((await call('get_flow_overview', { query: 'sauna' })).message).toMatch(/^No flow fits these filters/)
  })

  it('R47 refresh_homey_flows loads flows that were edited in the app', async () => {
    const { home, call } = stage()
    const movie = home.flows().find(({ id }) => id === 'movie-time')!
    home.saveFlow({ ...movie, id: 'reading', name: 'Reading' })
    home.saveFlow({ ...movie, actions: movie.actions.slice(0, 1) })
    home.removeFlow('announce')
    expect(await call('trigger_any_flow', { flow: 'Reading' })).toEqual({
      ok: false,
      message:
        "There is no flow 'Reading'. Nearest: leaving-home (Leaving home), coming-home (Coming home), good-morning (Good morning). get_flow_overview lists every flow; call refresh_homey_flows first if it was made just now.",
    })
    expect(await call('trigger_any_flow', { flow: 'announce' })).toEqual({
      ok: false,
      message: "Flow 'announce' is no longer in the home. Call refresh_homey_flows to see what is.",
    })
    const refreshed = await call('refresh_homey_flows')
    expect(refreshed.message).toBe('17 flows: added Reading; changed Movie time; removed Announce.')
    expect((await call('trigger_any_flow', { flow: 'Reading' })).ok).toBe(true)
    expect((await call('refresh_homey_flows')).message).toBe('17 flows: nothing new.')
  })
})

describe('insights', () => {
  it('R47 get_insight_logs lists what is recorded, with the ids for reading it', async () => {
    const { call } = stage()
    const result = await call('get_insight_logs', { zone_id: 'first-floor', capability: 'measure_temperature' })
    expect(result.message).toBe(
      [
        '- Radiator valve, Bedroom: thermostat-bedroom:measure_temperature (°C)',
        '- Climate sensor, Bedroom: sensor-bedroom-climate:measure_temperature (°C)',
        '- Climate sensor, Bathroom: sensor-bathroom-climate:measure_temperature (°C)',
        '- Climate sensor, Office: sensor-office-climate:measure_temperature (°C)',
      ].join('\n'),
    )
    const lost = await call('get_insight_logs', { device_id: 'sensor-garage-door' })
    expect(lost.message).toMatch(/^No log fits these filters/)
  })

  it('R47 get_insight_data sums up what really happened', async () => {
    const { home, call } = stage()
    await call('control_device', { device_id: 'plug-living-tv', capability: 'onoff', value: true })
    home.advance(60)
    await call('toggle_device', { device_id: 'plug-living-tv' })
    home.advance(60)
    const read = (log: string, points: number): Promise<ToolResult> =>
      call('get_insight_data', { log_id: `plug-living-tv:${log}`, period: 'last_6_hours', points })
    const power = await read('measure_power', 3)
    expect(power).toMatchObject({
      value: { unit: 'W', points: [{ max: 0 }, { max: 0 }, { from: '2026-01-12 19:00' }] },
    })
    expect((await read('onoff', 1)).message).toMatch(
      /^plug-living-tv:onoff, last_6_hours until 2026-01-12 21:00: on 1[67] % of the time; now off\.$/,
    )
    const energy = await read('meter_power', 1)
    const used = Number(/used ([\d.]+) kWh/.exec(energy.message)?.[1])
    expect(used).toBeGreaterThan(0.08)
    expect(used).toBeLessThan(0.11)
    const parts = (await read('meter_power', 6)).message.split('\n').slice(1)
    const sum = parts.reduce((total, line) => total + Number(/used ([\d.]+) kWh/.exec(line)![1]), 0)
    expect(sum).toBeCloseTo(used, 2)
    const whole = await call('get_insight_data', { log_id: 'thermostat-living:measure_temperature' })
    expect(whole.message.split('\n')).toHaveLength(25)
    expect(whole.message).toMatch(
      /^thermostat-living:measure_temperature, last_24_hours until 2026-01-12 21:00: average [\d.]+ °C, lowest [\d.]+, highest [\d.]+; now [\d.]+ °C\.\n2026-01-11 21:00 average/,
    )
  })

  it('R47 a seed determines the home, and a week of history is kept', () => {
    const data = (home: Home): unknown =>
      home.insightLogs().map((log) => home.insightData(log, { minutes: 7 * 24 * 60, points: 50 }))
    const [one, same, other] = [createHome(), createHome(), createHome({ seed: 2 })]
    for (const home of [one, same, other]) home.advance(90)
    expect(data(one)).toEqual(data(same))
    expect(data(one)).not.toEqual(data(other))
    expect(new Set(one.insightLogs().map(({ samples }) => samples))).toEqual(new Set([2016]))
  })
})
