import { stopCounting } from '../test/doors/steps.ts'
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createCatalog, hybrid, type Catalog, type RawTool } from 'foldout/catalog'
import { MAX_MILLISECONDS, measureGrowth } from '../test/doors/growth.ts'
import { DOORS } from '../test/doors/registry.ts'
import { getShapes } from '../test/doors/shapes.ts'
import { measureImports } from './import.ts'
import { measure, QUICK, THOROUGH, type Contender } from './measure.ts'
import { goal, progress, type Bench, type BenchOptions, type Goal, type Row } from './report.ts'

interface Part {
  readonly rows: readonly Row[]
  readonly goals: readonly Goal[]
}

const SIZES = [100, 1_000, 10_000] as const
const MAX_STALL_MS = 10
const MAX_LIST_MS = 0.5
const MAX_SEARCH_MS = 5
/** How much more a list, and the overhead of a search, may cost with the most tools than with the fewest. */
const MAX_GROWTH_WITH_TOOLS = 1.5

export const doorsBench: Bench = {
  name: 'doors',
  question: 'How does the cost of foreign input grow, and does it block the process?',
  columns: [
    { key: 'what', label: 'what' },
    { key: 'tools', label: 'tools' },
    { key: 'worst', label: 'worst shape' },
    { key: 'smallSteps', label: 'steps for n' },
    { key: 'largeSteps', label: 'steps for 16 n' },
    { key: 'growth', label: 'growth' },
    { key: 'largeMs', label: 'ms for 16 n' },
    { key: 'milliseconds', label: 'ms' },
    { key: 'clockMs', label: 'ms of the clock' },
    { key: 'entry', label: 'entry' },
    { key: 'bundledMs', label: 'CPU ms' },
    { key: 'bundledFiles', label: 'files' },
  ],
  async run(options) {
    const parts = [
      await measureDoors(options),
      measureStalls(options),
      await measureCatalogs(options),
      toImportPart(await measureImports(options)),
    ]
    return { rows: parts.flatMap(({ rows }) => rows), goals: parts.flatMap(({ goals }) => goals) }
  },
}

/** The worst shape of each door. With `quick`, a few shapes. */
async function measureDoors({ quick }: BenchOptions): Promise<Part> {
  const rows: Row[] = []
  const unbounded = new Set<string>()
  let longest = 0
  for (const door of DOORS.filter(({ skip }) => skip === undefined)) {
    progress(`${door.name} ...`)
    let worst: Row = {}
    for (const [index, shape] of getShapes(door.takes).entries()) {
      if (door.without?.includes(shape[0]) || (quick && index % 8 !== 0)) continue
      const { small, large, growth, fault } = await measureGrowth(door, shape)
      if (fault !== undefined) unbounded.add(door.name)
      longest = Math.max(longest, large.milliseconds)
      if (growth > Number(worst['growth'] ?? -1))
        worst = {
          worst: shape[0],
          smallSteps: small.steps,
          largeSteps: large.steps,
          growth,
          largeMs: large.milliseconds,
        }
    }
    rows.push({ what: door.name, ...worst })
  }
  stopCounting()
  return {
    rows,
    goals: [
      goal('doors whose work grows more than n log n', unbounded.size, '<=', 0),
      goal('doors skipped', DOORS.filter(({ skip }) => skip !== undefined).length, '<=', 0),
      goal('ms for the largest input of any door, not optimized', longest, '<=', MAX_MILLISECONDS),
    ],
  }
}

const STALL_PROGRAM = `
import { createCatalog } from 'foldout/catalog'
const count = Number(process.argv[1])
const words = ['order', 'invoice', 'customer', 'ticket', 'file', 'branch', 'message', 'calendar', 'report', 'payment']
const catalog = createCatalog(Array.from({ length: count }, (_, i) => ({
  name: 'tool_' + i, source: 's' + (i % 20),
  description: 'Lists the ' + words[i % 10] + ' of a ' + words[(i * 7) % 10] + ' and number ' + i + ' of the day.',
  inputSchema: { type: 'object', properties: { id: { type: 'string', description: 'The ' + words[(i * 3) % 10] } } },
})))
let longest = [0, 0], last, used, on = true
const begin = () => { last = performance.now(); used = process.cpuUsage() }
const note = () => {
  const clock = performance.now() - last
  const { user, system } = process.cpuUsage(used)
  // On a busy machine, the clock includes the work of others.
  const stall = Math.min(clock, (user + system) / 1000)
  longest = [Math.max(longest[0], stall), Math.max(longest[1], clock)]
}
const watch = () => { note(); begin(); if (on) setImmediate(watch) }
begin()
setImmediate(watch)
await new Promise((resolve) => setTimeout(resolve, 5))
longest = [0, 0]
begin()
await catalog.search('send a message to a customer')
on = false
await new Promise((resolve) => setImmediate(resolve))
console.log(longest.join(' '))
`

/** The longest time that the first search in a process blocks everything else. */
function measureStalls({ quick }: BenchOptions): Part {
  const rows: Row[] = []
  for (const tools of SIZES) {
    progress(`first search of ${tools.toLocaleString('en')} tools ...`)
    const stalls = Array.from({ length: quick ? 1 : 5 }, () => {
      const root = fileURLToPath(new URL('..', import.meta.url))
      const args = ['--input-type=module', '-e', STALL_PROGRAM, String(tools)]
      const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
      const [stall = Number.NaN, clock = Number.NaN] = stdout.trim().split(' ').map(Number)
      if (Number.isNaN(stall + clock)) throw new Error(`The search could not be measured: ${stderr}`)
      return { stall, clock }
    })
    // The minimum, without the work of other processes.
    const milliseconds = Math.min(...stalls.map(({ stall }) => stall))
    const clockMs = Math.min(...stalls.map(({ clock }) => clock))
    rows.push({ what: 'longest stall by the first search', tools, milliseconds, clockMs })
  }
  return {
    rows,
    goals: rows.map((row) =>
      goal(`ms stalled by the first search of ${row['tools']} tools`, Number(row['milliseconds']), '<=', MAX_STALL_MS),
    ),
  }
}

const LIST = 'list'
const SEARCH = 'search'
const APART = 'search apart from the search itself'

/** What a client's requests cost, and how that grows with the catalog. */
async function measureCatalogs({ quick }: BenchOptions): Promise<Part> {
  progress('list and search ...')
  const contenders = await Promise.all(SIZES.map(createRequests))
  const times = await measure(contenders.flat(), quick ? QUICK : THOROUGH)
  const at = (what: string, tools: number): number => (times.get(`${what} ${tools}`) ?? Number.NaN) / 1e6
  const [fewest, , most] = SIZES
  const rows = SIZES.flatMap((tools) =>
    [LIST, SEARCH, APART].map((what): Row => ({ what, tools, milliseconds: at(what, tools) })),
  )
  const growth = (what: string): Goal =>
    goal(`${what}: ${most} tools, times ${fewest}`, at(what, most) / at(what, fewest), '<=', MAX_GROWTH_WITH_TOOLS)
  return {
    rows,
    goals: [
      goal(`ms for a list of ${most} tools`, at(LIST, most), '<=', MAX_LIST_MS),
      goal(`ms for a search of ${most} tools`, at(SEARCH, most), '<=', MAX_SEARCH_MS),
      growth(LIST),
      growth(APART),
    ],
  }
}

/** A client's requests to a catalog of some size. The sizes take turns. */
async function createRequests(tools: number): Promise<readonly Contender[]> {
  const catalog = createSampleCatalog(tools)
  const { list, call } = hybrid().expose(catalog, { id: 'bench', takesListChanges: true })
  const remembering = createSampleCatalog(tools)
  const remembered = hybrid().expose(remembering, { id: 'bench', takesListChanges: true })
  // Tools that every size of catalog has, so that all answers are alike. A catalog caches its last searches, so that nothing
  // is searched for twice.
  const known = Array.from({ length: Math.min(...SIZES) }, (_, index) => getName(index).replaceAll('_', ' '))
  for (const query of known) await remembering.search(query)
  // Indexing is measured above.
  await catalog.search('anything')
  let next = 0
  return [
    { name: `${LIST} ${tools}`, run: () => list() },
    { name: `${SEARCH} ${tools}`, run: () => call('search_tools', { query: getQuery(next++) }, {}) },
    {
      name: `${APART} ${tools}`,
      run: () => remembered.call('search_tools', { query: known[next++ % known.length] ?? '' }, {}),
    },
  ]
}

const VERBS =
  'list create update delete find send cancel export import merge close open assign archive rename copy'.split(' ')
const NOUNS =
  'order invoice customer ticket file branch message report payment calendar event contact deal campaign device sensor lamp room user role policy alert metric dashboard query table column record backup bucket queue topic secret key certificate domain host image container pod cluster region zone budget price product stock shipment refund coupon review comment note task project sprint board page post video album playlist'.split(
    ' ',
  )

function getWord(words: readonly string[], index: number): string {
  return words[index % words.length] ?? ''
}

function getNameWords(index: number): readonly [string, string] {
  return [getWord(VERBS, index), getWord(NOUNS, Math.floor(index / VERBS.length))]
}

function getName(index: number): string {
  return [...getNameWords(index), index].join('_')
}

function createSampleCatalog(count: number): Catalog {
  return createCatalog(
    Array.from({ length: count }, (_, index): RawTool => {
      const [verb, noun] = getNameWords(index)
      const description = `${verb} a ${noun} by its ${getWord(NOUNS, index * 7)} or ${getWord(NOUNS, index * 13)}.`
      return { name: getName(index), source: `server${index % 20}`, description }
    }),
  )
}

/** A different query each time, because the catalog remembers searches. */
function getQuery(index: number): string {
  return `${getWord(VERBS, index)} the ${getWord(NOUNS, index * 5 + 1)} of a ${getWord(NOUNS, index * 11)}`
}

/** Adds the rows of the import bench. */
function toImportPart({ rows, goals }: Part): Part {
  return { rows: rows.map((row) => ({ what: 'import', ...row })), goals }
}
