import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readSegments, type Segment } from './long/data.ts'
import { POLICIES, PRICES, type Policy, type Price } from './long/policies.ts'
import { replay, type Replayed } from './long/replay.ts'
import { createSixtyTurns } from './long/sixty-turns.ts'
import { goal, progress, type Bench, type Goal, type Row } from './report.ts'

/** Where the recorded conversations are, if no others are given. */
const FOLDER = process.env['FOLDOUT_LONG_DATA'] ?? join(import.meta.dirname, '../../shared/data/long')
const SETS = ['coding-a.jsonl.gz', 'coding-b.jsonl.gz']

/** The least that folding must save at the first price, by set, as a share. */
const LEAST_SAVED: Readonly<Record<string, number>> = { 'coding-a': -0.12, 'coding-b': -0.07 }
const SIXTY_TURNS = '60 turns of 5–40 kB'
const MOST_PEAK = 120_000
/** In a quick run, one conversation of this many is replayed. */
const QUICK_STEP = 8

export const longBench: Bench = {
  name: 'long',
  question: 'What do long conversations cost with each way to shorten them? (--data <file.jsonl[.gz]>)',
  columns: [
    { key: 'set', label: 'conversations' },
    { key: 'policy', label: 'policy' },
    ...PRICES.map(({ name }) => ({ key: name, label: name })),
    { key: 'peak50', label: 'peak p50' },
    { key: 'peak90', label: 'peak p90' },
    { key: 'folds', label: 'folds' },
    { key: 'readBacks', label: 'turns that read back %' },
    { key: 'reachable', label: 'needs reachable %' },
    { key: 'inOneCall', label: 'in one call %' },
  ],
  async run({ quick, files }) {
    const rows: Row[] = []
    const goals: Goal[] = []
    for (const [set, segments] of readSets(files, quick)) {
      const replayed = await replayAll(set, segments)
      rows.push(...replayed.map((one) => toRow(set, one, replayed)))
      goals.push(...toGoals(set, replayed))
    }
    return { rows, goals }
  },
}

function readSets(files: readonly string[], quick: boolean): readonly (readonly [string, readonly Segment[]])[] {
  const paths = files.length > 0 ? files : SETS.map((name) => join(FOLDER, name)).filter((path) => existsSync(path))
  const recorded = paths.map((path) => {
    const segments = readSegments(path).filter((_, at) => !quick || at % QUICK_STEP === 0)
    return [basename(path).replace(/\.jsonl(\.gz)?$/, ''), segments] as const
  })
  return [...recorded, [SIXTY_TURNS, [createSixtyTurns()]]]
}

/** The conversations of a set with one policy; one that knows the price is another one at each. */
interface PolicyRun {
  readonly policy: Policy
  readonly price: Price
  readonly replayed: readonly Replayed[]
}

async function replayAll(set: string, segments: readonly Segment[]): Promise<readonly PolicyRun[]> {
  const runs: PolicyRun[] = []
  for (const policy of POLICIES) {
    for (const price of policy.knowsPrice ? PRICES : PRICES.slice(0, 1)) {
      progress(`${set}, ${policy.name}${policy.knowsPrice ? `, ${price.name}` : ''} ...`)
      const replayed: Replayed[] = []
      for (const segment of segments) replayed.push(await replay(segment, policy, price))
      runs.push({ policy, price, replayed })
    }
  }
  return runs
}

function toRow(set: string, run: PolicyRun, all: readonly PolicyRun[]): Row {
  const { policy, price, replayed } = run
  const needs = sum(replayed, ({ needs: count }) => count)
  const share = (count: number): number | null => (needs === 0 ? null : (100 * count) / needs)
  const reached = sum(replayed, ({ reached: count }) => count)
  return {
    set,
    policy: policy.knowsPrice ? `${policy.name}, ${price.name}` : policy.name,
    ...Object.fromEntries(
      PRICES.filter((one) => !policy.knowsPrice || one === price).map((one) => [one.name, formatSaving(run, one, all)]),
    ),
    peak50: getQuantile(replayed, 0.5),
    peak90: getQuantile(replayed, 0.9),
    folds: sum(replayed, ({ folds }) => folds) / replayed.length,
    readBacks: (100 * sum(replayed, ({ readBacks }) => readBacks)) / sum(replayed, ({ turns }) => turns),
    reachable: share(reached),
    inOneCall: share(sum(replayed, ({ inOneCall }) => inOneCall)),
  }
}

/** Billed input compared with that of the same conversations without any fold, as a share. */
function getSaving({ replayed }: PolicyRun, { name }: Price, all: readonly PolicyRun[]): number {
  const bill = (runs: readonly Replayed[]): number => sum(runs, ({ billed }) => billed.get(name) ?? 0)
  const base = all.find(({ policy }) => policy.name === 'append-only')
  return bill(replayed) / bill(base?.replayed ?? []) - 1
}

function formatSaving(run: PolicyRun, price: Price, all: readonly PolicyRun[]): string {
  const percent = 100 * getSaving(run, price, all)
  return `${percent > 0 ? '+' : ''}${percent.toFixed(1)} %`
}

function toGoals(set: string, all: readonly PolicyRun[]): Goal[] {
  const ours = all.filter(({ policy }) => policy.knowsPrice)
  const dearest = Math.max(...ours.map((run) => getSaving(run, run.price, all)))
  const goals = [goal(`${set}: dearest price, compared with append-only`, dearest, '<=', 0)]
  const [first] = ours
  const least = LEAST_SAVED[set]
  if (first && least !== undefined)
    goals.push(
      goal(`${set}: ${first.price.name}, compared with append-only`, getSaving(first, first.price, all), '<=', least),
    )
  for (const { price, replayed } of ours)
    goals.push(goal(`${set}: peak p90 at ${price.name}`, getQuantile(replayed, 0.9), '<=', MOST_PEAK))
  const needs = sum(ours, ({ replayed }) => sum(replayed, (one) => one.needs - one.reached))
  goals.push(goal(`${set}: needs that could not be read`, needs, '<=', 0))
  const lost = sum(ours, ({ replayed }) => sum(replayed, (one) => one.lost))
  goals.push(goal(`${set}: results that are no longer in the conversation`, lost, '<=', 0))
  return goals
}

function getQuantile(replayed: readonly Replayed[], share: number): number {
  const peaks = replayed.map(({ peak }) => peak).toSorted((one, other) => one - other)
  return peaks[Math.min(Math.floor(peaks.length * share), peaks.length - 1)] ?? 0
}

function sum<Item>(items: readonly Item[], get: (item: Item) => number): number {
  return items.reduce((total, item) => total + get(item), 0)
}
