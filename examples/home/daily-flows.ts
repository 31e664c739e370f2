// The flows that the people in this home have created.
import type { Action, Condition, DeviceClass, Flow, Trigger, Value } from './model.ts'

const set = (device: string, capability: string, value: Value): Action => ({ type: 'set', device, capability, value })
const setZone = (zone: string, kind: DeviceClass, capability: string, value: Value): Action => ({
  type: 'setZone',
  zone,
  class: kind,
  capability,
  value,
})
const notify = (text: string): Action => ({ type: 'notify', text })
const becomes = (device: string, capability: string, value: Value): Trigger => ({
  type: 'becomes',
  device,
  capability,
  value,
})
const crosses = (device: string, capability: string, direction: 'above' | 'below', threshold: number): Trigger => ({
  type: 'crosses',
  device,
  capability,
  direction,
  threshold,
})
const isDark: Condition = { device: 'sensor-hallway-motion', capability: 'measure_luminance', is: 'below', value: 30 }

interface Parts {
  readonly kind?: Flow['kind']
  readonly enabled?: boolean
  readonly when?: readonly Trigger[]
  readonly and?: readonly Condition[]
  readonly actions: readonly Action[]
}

function flow(folder: string, id: string, name: string, parts: Parts): Flow {
  const { kind = 'standard', enabled = true, when = [], and = [], actions } = parts
  return { id, name, folder, kind, enabled, triggers: when, conditions: and, actions }
}

export const flows: readonly Flow[] = [
  flow('Daily', 'good-morning', 'Good morning', {
    when: [{ type: 'time', at: '07:00', weekdays: true }],
    actions: [
      set('blinds-bedroom', 'windowcoverings_set', 1),
      set('blinds-living', 'windowcoverings_set', 1),
      set('light-kitchen-ceiling', 'dim', 0.8),
      set('plug-kitchen-coffee', 'onoff', true),
    ],
  }),
  flow('Daily', 'coffee-off', 'Coffee machine off', {
    when: [{ type: 'time', at: '08:30', weekdays: false }],
    actions: [set('plug-kitchen-coffee', 'onoff', false), setZone('kitchen', 'light', 'onoff', false)],
  }),
  flow('Daily', 'good-night', 'Good night', {
    kind: 'advanced',
    when: [{ type: 'time', at: '23:30', weekdays: false }],
    actions: [
      setZone('home', 'light', 'onoff', false),
      setZone('home', 'blinds', 'windowcoverings_set', 0),
      set('plug-living-tv', 'onoff', false),
      set('lock-front-door', 'locked', true),
      set('thermostat-living', 'target_temperature', 17),
    ],
  }),
  flow('Daily', 'leaving-home', 'Leaving home', {
    kind: 'advanced',
    actions: [
      setZone('home', 'light', 'onoff', false),
      set('plug-living-tv', 'onoff', false),
      set('speaker-living', 'speaker_playing', false),
      set('thermostat-living', 'target_temperature', 16),
      set('lock-front-door', 'locked', true),
      notify('Everybody has left.'),
    ],
  }),
  flow('Daily', 'coming-home', 'Coming home', {
    when: [becomes('lock-front-door', 'locked', false)],
    and: [isDark],
    actions: [set('light-hallway-ceiling', 'dim', 0.7), set('thermostat-living', 'target_temperature', 20)],
  }),
  flow('Living room', 'movie-time', 'Movie time', {
    kind: 'advanced',
    actions: [
      set('light-living-ceiling', 'onoff', false),
      set('light-living-floor', 'dim', 0.2),
      set('blinds-living', 'windowcoverings_set', 0),
      set('plug-living-tv', 'onoff', true),
    ],
  }),
  flow('Living room', 'announce', 'Announce', {
    actions: [set('speaker-living', 'volume_set', 0.5), notify('{text}')],
  }),
  flow('Lighting', 'hallway-motion', 'Hallway light on motion', {
    when: [becomes('sensor-hallway-motion', 'alarm_motion', true)],
    and: [isDark],
    actions: [set('light-hallway-ceiling', 'dim', 0.3)],
  }),
  flow('Lighting', 'hallway-quiet', 'Hallway light off', {
    when: [becomes('sensor-hallway-motion', 'alarm_motion', false)],
    actions: [set('light-hallway-ceiling', 'onoff', false)],
  }),
  flow('Lighting', 'sunset', 'Lights at sunset', {
    when: [crosses('sensor-garden-weather', 'measure_luminance', 'below', 100)],
    actions: [set('light-garden-path', 'onoff', true), set('light-living-floor', 'dim', 0.6)],
  }),
  flow('Lighting', 'sunrise', 'Garden lights off at sunrise', {
    when: [crosses('sensor-garden-weather', 'measure_luminance', 'above', 100)],
    actions: [set('light-garden-path', 'onoff', false)],
  }),
  flow('Work', 'work-starts', 'Work starts', {
    when: [{ type: 'time', at: '09:00', weekdays: true }],
    actions: [set('plug-office-computer', 'onoff', true), set('light-office-desk', 'onoff', true)],
  }),
  flow('Work', 'work-ends', 'Work ends', {
    when: [{ type: 'time', at: '17:30', weekdays: true }],
    actions: [set('plug-office-computer', 'onoff', false), setZone('office', 'light', 'onoff', false)],
  }),
  flow('Climate', 'bathroom-fan-on', 'Bathroom fan on', {
    when: [crosses('sensor-bathroom-climate', 'measure_humidity', 'above', 65)],
    actions: [set('plug-bathroom-fan', 'onoff', true)],
  }),
  flow('Climate', 'bathroom-fan-off', 'Bathroom fan off', {
    when: [crosses('sensor-bathroom-climate', 'measure_humidity', 'below', 58)],
    actions: [set('plug-bathroom-fan', 'onoff', false)],
  }),
  flow('Climate', 'cold-bedroom', 'Bedroom too cold', {
    when: [crosses('thermostat-bedroom', 'measure_temperature', 'below', 15)],
    actions: [
      set('thermostat-bedroom', 'target_temperature', 18),
      notify('The bedroom was colder than 15 °C and is being heated.'),
    ],
  }),
  flow('Away', 'vacation', 'Vacation lights', {
    kind: 'advanced',
    enabled: false,
    when: [{ type: 'time', at: '20:00', weekdays: false }],
    actions: [set('light-living-ceiling', 'onoff', true), { type: 'start', flow: 'sunset' }],
  }),
]
