import { defineTool, ok, type AnyTool } from 'foldout'
import * as z from 'zod'
import { answer, deviceState, stateText } from './answers.ts'
import { capabilityNames } from './capabilities.ts'
import { timeText } from './clock.ts'
import { findDevice, findZone } from './find.ts'
import type { Home } from './home.ts'
import { deviceClasses, type Device, type Zone } from './model.ts'

export function queryTools(home: Home): Readonly<Record<'get_home_structure' | 'get_states', AnyTool>> {
  const root = home.zones()[0]!

  return {
    get_home_structure: defineTool({
      name: 'get_home_structure',
      description:
        'Get the zones of the home (house, floors, rooms) and the devices in each, with their ids, classes and ' +
        'capabilities. Call it first: other tools take the ids that it gives. It has no current values; use get_states for those.',
      params: z.strictObject({
        zone_id: z.string().optional().describe('Only this zone and the zones within it. Default: the whole home.'),
        include_devices: z.boolean().default(true).describe('False to get zones only.'),
      }),
      execute: ({ zone_id, include_devices }) =>
        answer(() => {
          const start = zone_id === undefined ? root : findZone(home, zone_id)
          const structure = getStructure(start, include_devices)
          return ok(structureText(structure, 0).join('\n'), structure)
        }),
    }),

    get_states: defineTool({
      name: 'get_states',
      description:
        'Get the current values of devices: what is on, how bright, how warm, open or closed, power use, batteries. ' +
        'Without filters it gives every device; filters are combined.',
      params: z.strictObject({
        device_ids: z.array(z.string()).min(1).optional().describe('Only these devices.'),
        zone_id: z.string().optional().describe('Only devices in this zone and the zones within it.'),
        device_class: z.enum(deviceClasses).optional().describe('Only devices of this class.'),
        capability: z.enum(capabilityNames).optional().describe('Only this capability, of devices that have it.'),
      }),
      execute: ({ device_ids, zone_id, device_class, capability }) =>
        answer(() => {
          const ids = device_ids && new Set(device_ids.map((id) => findDevice(home, id).id))
          const zone = zone_id === undefined ? root : findZone(home, zone_id)
          const found = home
            .zonesWithin(zone.id)
            .flatMap((room) => getDevices(room))
            .filter((device) => !ids || ids.has(device.id))
            .filter((device) => !device_class || device.class === device_class)
            .filter((device) => capability === undefined || capability in device.state)
            .map((device) => (capability === undefined ? device : only(device, capability)))
          if (found.length === 0)
            return ok('No device fits these filters.', { time: timeText(home.now()), devices: [] })
          return ok(`At ${timeText(home.now())}:\n${statesText(found)}`, {
            time: timeText(home.now()),
            devices: found.map((device) => deviceState(device)),
          })
        }),
    }),
  }

  function getDevices(zone: Zone): Device[] {
    return home.devices().filter((device) => device.zone === zone.id)
  }

  function getStructure(zone: Zone, withDevices: boolean): ZoneStructure {
    const devices = getDevices(zone).map(({ id, name, class: kind, state, unavailable }) => ({
      id,
      name,
      class: kind,
      capabilities: Object.keys(state),
      available: !unavailable,
    }))
    return {
      id: zone.id,
      name: zone.name,
      ...(withDevices ? { devices } : {}),
      zones: home
        .zones()
        .filter(({ parent }) => parent === zone.id)
        .map((inner) => getStructure(inner, withDevices)),
    }
  }

  function statesText(devices: readonly Device[]): string {
    return home
      .zones()
      .map((zone) => ({ zone, own: devices.filter((device) => device.zone === zone.id) }))
      .filter(({ own }) => own.length > 0)
      .map(({ zone, own }) =>
        [zone.name, ...own.map((device) => `- ${device.id} "${device.name}": ${stateText(device)}`)].join('\n'),
      )
      .join('\n')
  }
}

interface ZoneStructure {
  readonly id: string
  readonly name: string
  readonly devices?: readonly {
    readonly id: string
    readonly name: string
    readonly class: string
    readonly capabilities: readonly string[]
    readonly available: boolean
  }[]
  readonly zones: readonly ZoneStructure[]
}

function structureText({ id, name, devices = [], zones }: ZoneStructure, depth: number): string[] {
  const indent = '  '.repeat(depth)
  return [
    `${indent}${name} (${id})`,
    ...devices.map(
      (device) =>
        `${indent}- ${device.id} "${device.name}", ${device.class}: ${device.capabilities.join(', ')}` +
        (device.available ? '' : ' (cannot be reached)'),
    ),
    ...zones.flatMap((zone) => structureText(zone, depth + 1)),
  ]
}

function only(device: Device, capability: string): Device {
  return { ...device, state: { [capability]: device.state[capability]! } }
}
