import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bySearch, createCachedCounter, createSession, estimatedTokens, readSection } from 'foldout'
import { choosePlace } from 'foldout/disclosure'
import {
  findPromptCache,
  simulate,
  tune,
  type PromptCache,
  type SimulatedRun,
  type Simulation,
  type SimulationOptions,
} from 'foldout/telemetry'
import { goal, progress, type Bench, type BenchOptions, type Goal, type Row } from '../report.ts'
import { loadTasks, type TaskData } from './data.ts'
import { createDomains, type Domain, type Task } from './domains.ts'
import { planFind } from './find.ts'
import { FORCED, getStart } from './places.ts'
import { rememberSimulations, type BillRun } from './remember.ts'

const FOLDER = join(import.meta.dirname, '../../../shared/data/tasks')
const counter = createCachedCounter(estimatedTokens)

/** The models whose prices are compared. */
const MODELS = ['claude-sonnet-4', 'claude-haiku-4-5', 'claude-sonnet-5-5', 'claude-fable-5-1', 'gpt-5'] as const
const STARTS = ['cold', 'warm', 'busy'] as const
const PER_HOUR = 40
const ROWS = ['full', 'folded', 'ahead', 'find', 'auto', 'tuned'] as const

type RowName = (typeof ROWS)[number]
type Start = (typeof STARTS)[number]

interface Cell {
  readonly model: (typeof MODELS)[number]
  readonly cache: PromptCache
  readonly start: Start
}

const CELLS: readonly Cell[] = MODELS.flatMap((model) => {
  const cache = findPromptCache(model)
  return cache ? STARTS.map((start) => ({ model, cache, start })) : []
})
const BUSY = 1e9
const toStart = ({ start }: Cell) => (start === 'busy' ? { perHour: PER_HOUR } : start)
const toTraffic = ({ start }: Cell): number => ({ cold: 0, warm: BUSY, busy: PER_HOUR })[start]

interface TaskContext {
  readonly auto: Auto
  readonly getShare: GetShare
  /** Returns the section that a search chooses for the task. */
  choose(this: void): Promise<string>
}

/** What a task costs in every way and cell. Simulations are kept, because most cells have the same requests. */
interface TaskCosts {
  cost(row: Exclude<RowName, 'tuned'>, cell: Cell, needs: Needs): Promise<number>
  simulated(row: 'full' | 'folded' | 'ahead' | 'find'): Promise<Simulation>
}

type Needs = ReadonlyMap<string, number>

/** The share of the tasks in which a search chooses the same section. */
type GetShare = (choice: string) => Promise<number>

function priceTask({ prompt }: Domain, { run }: Task, { auto, getShare, choose }: TaskContext): TaskCosts {
  const kept = new Map<string, Promise<Simulation>>()
  const once = (key: string, make: () => Promise<Simulation>): Promise<Simulation> => {
    const made = kept.get(key) ?? make()
    kept.set(key, made)
    return made
  }
  const strategy = readSection()
  const full = () => once('full', () => simulate(run, { strategy: 'everything-in-full', counter }))
  const folded = (visibility: Readonly<Record<string, 'full' | 'summary'>> = {}) =>
    once(JSON.stringify(visibility), () => simulate(run, { strategy, counter, visibility }))
  const ahead = (place: 'system' | 'message') =>
    once(place, () => simulate(run, { strategy, counter, open: bySearch(), ...FORCED[place] }))
  const find = () =>
    once('find', async () => {
      const { run: found, strategy: finding } = await planFind(run, counter)
      return simulate(found, { strategy: finding, counter })
    })
  const bill = (simulation: Simulation, cell: Cell): number =>
    simulation.bill({ cache: cell.cache, cacheStart: toStart(cell) }).billedTokens
  return {
    simulated: (row) => ({ full, folded, ahead: () => ahead('system'), find })[row](),
    async cost(row, cell, needs) {
      if (row === 'full') return bill(await full(), cell)
      if (row === 'folded') return bill(await folded(), cell)
      if (row === 'find') return bill(await find(), cell)
      if (row === 'auto') return bill(await folded(auto(cell, needs)), cell)
      const shared = getStart(await folded())
      const opened = getStart(await ahead('system')) - shared
      const variants = prompt.render().summarized.length + 1
      const place = choosePlace({ cache: cell.cache, perHour: toTraffic(cell), variants, shared, opened })
      const simulation = await ahead(place)
      const share = place === 'system' ? await getShare(await choose()) : 1
      return simulation.bill({ cache: cell.cache, cacheStart: toStart(cell), share }).billedTokens
    },
  }
}

/** The sections that `visibility: 'auto'` folds at a price, as the visibility of each top-level one. */
type Auto = (cell: Cell, needs: Needs) => Readonly<Record<string, 'full' | 'summary'>>

function createAuto(name: string, data: TaskData): Auto {
  const known = new Map<string, ReturnType<Auto>>()
  return (cell, needs) => {
    const key = JSON.stringify([cell.model, cell.start, [...needs]])
    const decided = known.get(key) ?? decideAuto(name, data, cell, needs)
    known.set(key, decided)
    return decided
  }
}

/** What nobody needed is still needed now and then. */
const LEAST_NEED = 0.02

function decideAuto(name: string, data: TaskData, cell: Cell, needs: Needs): ReturnType<Auto> {
  const domain = createDomains(data, (key) => needs.get(key) ?? LEAST_NEED).find((each) => each.name === name)
  const price = { cache: cell.cache, perHour: toTraffic(cell), requests: REQUESTS }
  const { nodes = [] } = domain?.prompt.render({ session: createSession(), price, counter }) ?? {}
  return Object.fromEntries(nodes.filter(({ depth }) => depth === 0).map(({ path, visibility }) => [path, visibility]))
}

/** How many requests a conversation has, by and large. */
const REQUESTS = 11

function learnNeeds(tasks: readonly Task[]): Needs {
  const counts = new Map<string, number>()
  for (const { needed } of tasks)
    for (const key of new Set(needed.map((path) => path.split('.')[0] ?? path)))
      counts.set(key, (counts.get(key) ?? 0) + 1)
  return new Map([...counts].map(([key, count]) => [key, count / Math.max(1, tasks.length)]))
}

/** What tasks cost with what `tune` writes for the other half of them. */
async function priceTuned(tasks: readonly Task[], billRun: BillRun, cell: Cell): Promise<number> {
  const terms = { cache: cell.cache, cacheStart: toStart(cell), outputRate: 0, strategy: readSection(), counter }
  const bill = (run: SimulatedRun, options: SimulationOptions) =>
    billRun(run, options, { cache: cell.cache, perHour: toTraffic(cell) })
  const runs = tasks.map(({ run }) => run)
  let sum = 0
  for (const half of [0, 1]) {
    const learned = runs.filter((_, at) => at % 2 === half)
    const { overrides } = await tune(learned, { ...terms, simulate: bill })
    for (const run of runs.filter((_, at) => at % 2 !== half))
      sum += (await bill(run, { ...terms, overrides })).billedTokens
  }
  return sum
}

async function sumCosts(
  row: Exclude<RowName, 'tuned'>,
  at: readonly number[],
  costs: readonly TaskCosts[],
  cell: Cell,
  needs: Needs,
): Promise<number> {
  let sum = 0
  for (const index of at) sum += (await costs[index]?.cost(row, cell, needs)) ?? 0
  return sum
}

interface Figures {
  /** For each row, what all tasks cost in each cell, relative to everything in full. */
  readonly changes: ReadonlyMap<RowName, readonly number[]>
  readonly rows: readonly Row[]
  readonly goals: readonly Goal[]
}

async function measure(domain: Domain, data: TaskData): Promise<Figures> {
  const { name, tasks } = domain
  const auto = createAuto(name, data)
  const choices = tasks.map(({ run }) => chooseSection(domain, run.input ?? ''))
  const getShare: GetShare = async (choice) => {
    const all = await Promise.all(choices)
    return all.filter((each) => each === choice).length / all.length
  }
  const costs = tasks.map((task, at) =>
    priceTask(domain, task, { auto, getShare, choose: () => choices[at] ?? Promise.resolve('') }),
  )
  const billRun = rememberSimulations()
  const needs = learnNeeds(tasks)
  const all = tasks.map((_, at) => at)
  const rows = ROWS.filter((row) => row !== 'find' || name === 'banking')
  const full = await Promise.all(CELLS.map((cell) => sumCosts('full', all, costs, cell, needs)))
  const changes = new Map<RowName, readonly number[]>()
  for (const row of rows) {
    progress(`${name}: ${row} ...`)
    const billed: number[] = []
    for (const cell of CELLS)
      billed.push(
        row === 'tuned' ? await priceTuned(tasks, billRun, cell) : await sumCosts(row, all, costs, cell, needs),
      )
    changes.set(
      row,
      billed.map((cost, at) => cost / (full[at] ?? 1) - 1),
    )
  }
  const sizes = await describeSizes(costs)
  const top = await findTop(domain)
  return {
    changes,
    rows: rows.flatMap((row) => toRows(name, row, changes.get(row) ?? [], sizes)),
    goals: [...toGoals(name, changes), ...(await goalsOfFind(name, costs, changes)), ...toTopGoals(name, top)],
  }
}

type Sizes = Readonly<Partial<Record<RowName, { readonly start: number; readonly requests: number }>>>

async function describeSizes(costs: readonly TaskCosts[]): Promise<Sizes> {
  const sizes: Record<string, { start: number; requests: number }> = {}
  for (const row of ['full', 'folded', 'ahead'] as const) {
    let start = 0
    let requests = 0
    for (const cost of costs) {
      const simulation = await cost.simulated(row)
      start += getStart(simulation)
      requests += simulation.requests.length
    }
    sizes[row] = { start: Math.round(start / costs.length), requests: requests / costs.length }
  }
  return sizes
}

function toRows(name: string, row: RowName, changes: readonly number[], sizes: Sizes): readonly Row[] {
  return MODELS.map((model) => {
    const at = (start: Start): number =>
      changes[CELLS.findIndex((cell) => cell.model === model && cell.start === start)] ?? 0
    const percent = (start: Start): number => Math.round(at(start) * 1000) / 10
    return {
      tasks: name,
      way: row,
      start: sizes[row]?.start ?? null,
      requests: sizes[row] ? Math.round(sizes[row].requests * 10) / 10 : null,
      model,
      cold: percent('cold'),
      warm: percent('warm'),
      busy: percent('busy'),
    }
  })
}

/** How much dearer a way may be than the better of full and folded. */
const TOLERANCE = 0.02

function toGoals(name: string, changes: Figures['changes']): readonly Goal[] {
  const folded = changes.get('folded') ?? []
  const worst = (row: RowName): number =>
    Math.max(...(changes.get(row) ?? []).map((change, at) => (1 + change) / (1 + Math.min(0, folded[at] ?? 0)) - 1))
  return (['auto', 'tuned'] as const).map((row) =>
    goal(`${name}: ${row}, dearer than the better of full and folded, worst cell`, worst(row), '<=', TOLERANCE),
  )
}

const warmAt = (changes: Figures['changes'], row: RowName): number =>
  changes.get(row)?.[CELLS.findIndex(({ model, start }) => model === 'claude-sonnet-5-5' && start === 'warm')] ?? 0

async function goalsOfFind(
  name: string,
  costs: readonly TaskCosts[],
  changes: Figures['changes'],
): Promise<readonly Goal[]> {
  if (name === 'three desks')
    return [goal('three desks: saved by opening ahead, warm, reads at 0.05', -warmAt(changes, 'ahead'), '>=', 0.45)]
  if (name !== 'banking') return []
  let opened = 0
  for (const cost of costs) opened += await countOpened(cost)
  return [
    goal('banking: tokens opened for a task with find', opened / costs.length, '<=', 6_000),
    goal('banking: saved with find, warm, reads at 0.05', -warmAt(changes, 'find'), '>=', 0.8),
  ]
}

/** What openings bring into a conversation: what it has at its end beyond what it has with everything in full. */
async function countOpened(cost: TaskCosts): Promise<number> {
  const [found, full] = [await cost.simulated('find'), await cost.simulated('full')]
  return (found.requests.at(-1)?.messages ?? 0) - (full.requests.at(-1)?.messages ?? 0)
}

/** Returns the section that `bySearch()` opens for an input; empty if none. */
async function chooseSection({ prompt }: Domain, input: string, options = {}): Promise<string> {
  const rule = bySearch({ budget: 1e6, ...options })
  const { view } = prompt.render()
  const { signal } = new AbortController()
  const [found = ''] = await rule(input, { view, session: createSession(), signal, countTokens: () => 0 })
  return found
}

/** The share of tasks in which the first section that a search finds is one that the task needs. */
async function findTop(domain: Domain): Promise<number> {
  const asked = domain.tasks.filter(({ needed }) => needed.length > 0)
  let right = 0
  for (const { run, needed } of asked) {
    const found = await chooseSection(domain, run.input ?? '', { minFit: 'weak' })
    if (found !== '' && needed.some((path) => path === found || path.startsWith(`${found}.`))) right++
  }
  return right / Math.max(1, asked.length)
}

/** What these search for; higher is better, and there is no goal but not to get worse. */
const TOP: Readonly<Record<string, number>> = { retail: 0.73, airline: 0.5, 'three desks': 0.97 }

function toTopGoals(name: string, top: number): readonly Goal[] {
  const least = TOP[name]
  return least === undefined ? [] : [goal(`${name}: the first section found is needed`, top, '>=', least)]
}

export const tasksBench: Bench = {
  name: 'tasks',
  question: 'What do folding, opening ahead, finding and tuning cost on public tasks?',
  columns: [
    { key: 'tasks', label: 'tasks' },
    { key: 'way', label: 'way' },
    { key: 'start', label: 'first tokens' },
    { key: 'requests', label: 'requests' },
    { key: 'model', label: 'price of' },
    { key: 'cold', label: 'cold %' },
    { key: 'warm', label: 'warm %' },
    { key: 'busy', label: '40 an hour %' },
  ],
  async run({ quick, files: [folder = FOLDER] }: BenchOptions) {
    if (!existsSync(folder)) throw new Error(`There are no tasks in ${folder}. Name a folder with --data.`)
    const data = loadTasks(resolve(folder))
    const rows: Row[] = []
    const goals: Goal[] = []
    for (const domain of createDomains(data)) {
      const every = quick ? 4 : 1
      const tasks = domain.tasks.filter((_, at) => at % every === 0)
      const figures = await measure({ ...domain, tasks }, data)
      rows.push(...figures.rows)
      goals.push(...figures.goals)
    }
    return { rows, goals }
  },
}
