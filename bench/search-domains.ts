import type { DataQuery, DataSet, DataTool } from './search-data.ts'

/** The domains of some categories. Categories with a bit of everything are left out. */
const DOMAINS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sgd: {
    travel: 'Flights Buses Trains RentalCars RideSharing Travel Hotels',
    film: 'Movies Media',
    music: 'Music',
    events: 'Events',
    professionals: 'Services',
    food: 'Restaurants',
    homes: 'Homes',
    money: 'Banks Payment',
    calendar: 'Calendar Alarm',
  },
  'toolbench-stable': {
    money: 'Finance Financial',
    sports: 'Sports',
    music: 'Music',
    travel: 'Travel Transportation',
    weather: 'Weather',
    food: 'Food',
    logistics: 'Logistics',
    games: 'Gaming',
    health: 'Health_and_Fitness Medical',
    jobs: 'Jobs',
    translation: 'Translation',
    film: 'Movies',
  },
  'mcpproxy-golden': { files: 'filesystem', code: 'git', memory: 'memory', database: 'sqlite' },
}
/** Sets about a single domain. */
const ONE_DOMAIN: Readonly<Record<string, string>> = { 'azure-mcp': 'cloud' }

/** Domains that answer some of each other's queries. */
const RELATED = [
  'cloud database files messaging code',
  'files code memory database',
  'homes travel',
  'events music film sports calendar',
  'professionals health',
  'weather travel',
  'logistics travel',
].map((domains) => domains.split(' '))

/** A catalog whose tools are about one domain. */
export interface DomainCatalog {
  readonly set: string
  readonly domain: string
  readonly tools: readonly DataTool[]
  /** The queries that only these tools answer. */
  readonly queries: readonly DataQuery[]
}

export function getDomainCatalogs(sets: readonly DataSet[]): readonly DomainCatalog[] {
  return sets.flatMap((set) => {
    const whole = ONE_DOMAIN[set.name]
    if (whole !== undefined) return [{ set: set.name, domain: whole, tools: set.tools, queries: set.queries }]
    return Object.entries(DOMAINS[set.name] ?? {}).map(([domain, categories]) => {
      const tools = set.tools.filter(({ category = '' }) => categories.split(' ').includes(category))
      const names = new Set(tools.map(({ name }) => name))
      const queries = set.queries.filter(({ relevant }) => relevant.every((name) => names.has(name)))
      return { set: set.name, domain, tools, queries }
    })
  })
}

/** Whether no tool of one domain answers a query of the other. */
export function areForeign(a: string, b: string): boolean {
  return a !== b && !RELATED.some((domains) => domains.includes(a) && domains.includes(b))
}
