import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createCatalog, hybrid, type Catalog, type RawTool } from 'foldout/catalog'
import { MAX_GROWTH, MAX_MILLISECONDS, measureGrowth } from '../test/doors/growth.ts'
import { DOORS } from '../test/doors/registry.ts'
import { getShapes } from '../test/doors/shapes.ts'
import { measureImports } from './import.ts'
import { measure, QUICK, THOROUGH } from './measure.ts'
import { goal, progress, type Bench, type BenchOptions, type Goal, type Row } from './report.ts'

interface Part {
  readonly rows: readonly Row[]
  readonly goals: readonly Goal[]
}

const SIZES = [100, 1_000, 10_000] as const
/** What a person would notice in an answer to somebody else. */
const MAX_STALL_MS = 50
const MAX_LIST_MS = 0.5
const MAX_SEARCH_MS = 5

export const doorsBench: Bench = {
  name: 'doors',
  question: 'How does the cost of foreign input grow, and does it hold up the process?',
  columns: [
    { key: 'what', label: 'what' },
    { key: 'tools', label: 'tools' },
    { key: 'worst', label: 'worst shape' },
    { key: 'smallMs', label: 'ms for n' },
    { key: 'largeMs', label: 'ms for 16 n' },
    { key: 'growth', label: 'growth' },
    { key: 'milliseconds', label: 'ms' },
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
  let unbounded = 0
  for (const door of DOORS.filter(({ skip }) => skip === undefined)) {
    progress(`${door.name} ...`)
    let worst: Row = {}
    let isBounded = true
    for (const [index, shape] of getShapes(door.takes).entries()) {
      if (door.without?.includes(shape[0]) || (quick && index % 8 !== 0)) continue
      const found = await measureGrowth(door, shape)
      isBounded &&= found.isBounded
      if (found.large > Number(worst['largeMs'] ?? -1))
        worst = { worst: shape[0], smallMs: found.small, largeMs: found.large, growth: found.growth }
    }
    if (!isBounded) unbounded += 1
    rows.push({ what: door.name, ...worst })
  }
  return {
    rows,
    goals: [
      goal(`doors that grow more than ${MAX_GROWTH} times for 16 times the input`, unbounded, '<=', 0),
      goal('doors skipped', DOORS.filter(({ skip }) => skip !== undefined).length, '<=', 0),
      goal(
        'ms for the largest input of any door',
        Math.max(...rows.map((row) => Number(row['largeMs']))),
        '<=',
        MAX_MILLISECONDS,
      ),
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
let longest = 0, last = performance.now(), on = true
const watch = () => { const now = performance.now(); longest = Math.max(longest, now - last); last = now; if (on) setImmediate(watch) }
setImmediate(watch)
await new Promise((resolve) => setTimeout(resolve, 5))
longest = 0; last = performance.now()
await catalog.search('send a message to a customer')
on = false
await new Promise((resolve) => setImmediate(resolve))
console.log(longest)
`

/** The longest time for which the first search of a process blocks everything else. */
function measureStalls({ quick }: BenchOptions): Part {
  const rows: Row[] = []
  for (const tools of SIZES) {
    progress(`first search of ${tools.toLocaleString('en')} tools ...`)
    const stalls = Array.from({ length: quick ? 1 : 5 }, () => {
      const root = fileURLToPath(new URL('..', import.meta.url))
      const args = ['--input-type=module', '-e', STALL_PROGRAM, String(tools)]
      const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
      const stall = Number(stdout.trim() || Number.NaN)
      if (Number.isNaN(stall)) throw new Error(`The search could not be measured: ${stderr}`)
      return stall
    })
    // The least: what others on the machine add is not ours.
    rows.push({ what: 'longest stall by the first search', tools, milliseconds: Math.min(...stalls) })
  }
  return {
    rows,
    goals: rows.map((row) =>
      goal(`ms stalled by the first search of ${row['tools']} tools`, Number(row['milliseconds']), '<=', MAX_STALL_MS),
    ),
  }
}

/** What a client's requests cost, and how that grows with the catalog. */
async function measureCatalogs({ quick }: BenchOptions): Promise<Part> {
  const rows: Row[] = []
  for (const tools of SIZES) {
    progress(`list and search of ${tools.toLocaleString('en')} tools ...`)
    const catalog = createSampleCatalog(tools)
    const exposed = hybrid().expose(catalog, { id: 'bench', takesListChanges: true })
    let query = 0
    // Indexing is measured above.
    await catalog.search('anything')
    const times = await measure(
      [
        { name: 'list', run: () => exposed.list() },
        { name: 'search', run: () => exposed.call('search_tools', { query: getQuery(query++) }, {}) },
      ],
      quick ? QUICK : THOROUGH,
    )
    for (const [what, nanoseconds] of times) rows.push({ what, tools, milliseconds: nanoseconds / 1e6 })
  }
  const most = SIZES.at(-1)
  const at = (what: string): number =>
    Number(rows.find((row) => row['what'] === what && row['tools'] === most)?.['milliseconds'])
  return {
    rows,
    goals: [
      goal(`ms for a list of ${most} tools`, at('list'), '<=', MAX_LIST_MS),
      goal(`ms for a search of ${most} tools`, at('search'), '<=', MAX_SEARCH_MS),
    ],
  }
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

function createSampleCatalog(count: number): Catalog {
  return createCatalog(
    Array.from({ length: count }, (_, index): RawTool => {
      const [verb, noun] = [getWord(VERBS, index), getWord(NOUNS, Math.floor(index / VERBS.length))]
      const description = `${verb} a ${noun} by its ${getWord(NOUNS, index * 7)} or ${getWord(NOUNS, index * 13)}.`
      return { name: `${verb}_${noun}_${index}`, source: `server${index % 20}`, description }
    }),
  )
}

/** A different query each time, because the catalog remembers searches. */
function getQuery(index: number): string {
  return `${getWord(VERBS, index)} the ${getWord(NOUNS, index * 5 + 1)} of a ${getWord(NOUNS, index * 11)}`
}

/** The rows of the bench on imports, beside the others. */
function toImportPart({ rows, goals }: Part): Part {
  return { rows: rows.map((row) => ({ what: 'import', ...row })), goals }
}
