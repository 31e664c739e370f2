// Metadata for the catalog besides the tools' definitions: the category of each tool, and the words that find it.

export const homeCategories = ['control', 'query', 'insights', 'flows', 'apps'] as const

export interface HomeToolMetadata {
  readonly category: (typeof homeCategories)[number]
  readonly shortDescription: string
  readonly tags: readonly string[]
}

/** The tools that nearly every conversation needs. */
export const coreTools = ['get_home_structure', 'get_states', 'trigger_any_flow', 'get_flow_overview'] as const

export const homeMetadata: Readonly<Record<string, HomeToolMetadata>> = {
  get_home_structure: {
    category: 'query',
    shortDescription: 'Zones of the home and the devices in each',
    tags: ['home', 'zones', 'rooms', 'devices', 'structure'],
  },
  get_states: {
    category: 'query',
    shortDescription: 'Current values of devices and sensors',
    tags: ['state', 'devices', 'sensors', 'temperature', 'power'],
  },
  trigger_any_flow: {
    category: 'flows',
    shortDescription: 'Start any flow by id or name',
    tags: ['flows', 'trigger', 'automation', 'scene'],
  },
  get_flow_overview: {
    category: 'flows',
    shortDescription: 'List flows with their triggers and actions',
    tags: ['flows', 'overview', 'automation'],
  },
  set_light: {
    category: 'control',
    shortDescription: 'Control light brightness, color, and power state',
    tags: ['lights', 'control', 'brightness', 'color'],
  },
  set_thermostat: {
    category: 'control',
    shortDescription: 'Set target temperature and mode of a thermostat',
    tags: ['thermostat', 'control', 'temperature', 'heating', 'climate'],
  },
  control_device: {
    category: 'control',
    shortDescription: 'Set any capability of a single device',
    tags: ['devices', 'control', 'capability', 'blinds', 'lock', 'speaker'],
  },
  toggle_device: {
    category: 'control',
    shortDescription: 'Toggle a device between its two states',
    tags: ['devices', 'control', 'toggle', 'power'],
  },
  control_zone_lights: {
    category: 'control',
    shortDescription: 'Control all lights in a zone simultaneously',
    tags: ['lights', 'control', 'zone', 'bulk'],
  },
  control_zone_capability: {
    category: 'control',
    shortDescription: 'Set a capability of all devices in a zone',
    tags: ['devices', 'control', 'zone', 'bulk', 'capability'],
  },
  get_insight_logs: {
    category: 'insights',
    shortDescription: 'List which measurements are recorded over time',
    tags: ['insights', 'logs', 'history', 'sensors'],
  },
  get_insight_data: {
    category: 'insights',
    shortDescription: 'Recorded values of a log over a period',
    tags: ['insights', 'history', 'data', 'statistics', 'temperature', 'energy'],
  },
  get_installed_apps: {
    category: 'apps',
    shortDescription: 'List installed apps, their state and updates',
    tags: ['apps', 'installed', 'updates', 'version'],
  },
  refresh_homey_flows: {
    category: 'flows',
    shortDescription: 'Reload the flows after edits in the app',
    tags: ['flows', 'refresh', 'reload', 'sync'],
  },
}
