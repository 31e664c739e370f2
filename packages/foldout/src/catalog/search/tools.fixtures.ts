import type { Searchable } from './contract.ts'

/** A tool with only the fields that matter to a test. */
export function toolNamed(name: string, more: Partial<Searchable> = {}): Searchable {
  const source = more.source
  return {
    name,
    qualified: source === undefined ? name : `${source}/${name}`,
    declared: name,
    source,
    title: undefined,
    description: '',
    category: undefined,
    tags: [],
    inputSchema: { type: 'object' },
    ...more,
  }
}

export const HOUSEHOLD: readonly Searchable[] = [
  toolNamed('get_weather_forecast', {
    description: 'Forecast of rain, wind and temperature for a city',
    source: 'weather',
  }),
  toolNamed('book_flight', { description: 'Reserves a seat on a plane', source: 'travel' }),
  toolNamed('search_flights', { description: 'Finds planes between two airports on a date', source: 'travel' }),
  toolNamed('light_create', { description: 'A lamp in a room', source: 'home', category: 'Lamps' }),
  toolNamed('light_get', { description: 'A lamp in a room', source: 'home', category: 'Lamps' }),
  toolNamed('light_delete', { description: 'A lamp in a room', source: 'home', category: 'Lamps' }),
  toolNamed('set_thermostat', {
    description: 'Sets how warm it should be',
    source: 'home',
    tags: ['heating'],
    inputSchema: {
      type: 'object',
      properties: { mode: { type: 'string', enum: ['eco', 'vacation'] }, degrees: { type: 'number' } },
    },
  }),
  toolNamed('send_email', { description: 'Sends a message to someone', source: 'mail', title: 'Send mail' }),
]
