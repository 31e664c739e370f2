import type { ArmOpenings, MissedOpening, MissedSection } from '../contract/report.ts'
import type { SavedHeader, SavedRun } from '../contract/saved.ts'
import type { KnownRuns } from './runs.ts'

/** What the runs of each case need, by case. A case that is not in it is unknown. */
export type Needs = ReadonlyMap<string, readonly string[]>

/** A section is needed if the case says so, or if a good run of the base has called one of its tools. */
export function findNeeds(header: SavedHeader, runs: KnownRuns): Needs {
  return new Map(
    header.cases.flatMap(({ id, needs }) => {
      const good = runs.get(header.base, id).filter(({ score }) => score === 1)
      const all = new Set([...(needs ?? []), ...good.flatMap(({ used }) => used)])
      if (needs === undefined && all.size === 0) return []
      return [[id, [...all].sort()] as const]
    }),
  )
}

/** The needed sections that a run could not read at its beginning, and those of them that it never could. */
export function findMissed(
  run: Pick<SavedRun, 'folded' | 'readable'>,
  needs: readonly string[],
): { needed: readonly string[]; missed: readonly string[] } {
  if (run.folded.length === 0) return NOTHING_FOLDED
  const needed = needs.filter((path) => run.folded.some((folded) => isAtOrIn(path, folded)))
  return { needed, missed: needed.filter((path) => !run.readable.includes(path)) }
}

const NOTHING_FOLDED = { needed: [], missed: [] }

const isAtOrIn = (path: string, outer: string): boolean => path === outer || path.startsWith(`${outer}.`)

const MAX_MISSED = 1_000

/** @param getCost What a run costs with a warm cache; undefined without prices. */
export function describeOpenings(
  runs: readonly SavedRun[],
  needs: Needs,
  getCost: ((run: SavedRun) => number) | undefined,
): ArmOpenings {
  const missed: MissedOpening[] = []
  const sections = new Map<string, { needed: number; missed: number; missedInFailures: number; wasted: number }>()
  let needed = 0
  let opened = 0
  let useful = 0
  let unknown = 0
  for (const run of runs) {
    const known = needs.get(run.case)
    if (known === undefined) {
      unknown++
      continue
    }
    const made = new Set([...run.opened, ...run.ahead])
    opened += made.size
    useful += [...made].filter((path) => known.some((need) => isAtOrIn(need, path))).length
    const found = findMissed(run, known)
    needed += found.needed.length
    const isMissed = new Set(found.missed)
    for (const path of found.needed) {
      const section = sections.get(path) ?? { needed: 0, missed: 0, missedInFailures: 0, wasted: 0 }
      sections.set(path, section)
      section.needed++
      if (!isMissed.has(path)) continue
      const failed = run.score < 1
      missed.push({ case: run.case, repeat: run.repeat, path, failed })
      section.missed++
      if (!failed) continue
      section.missedInFailures++
      section.wasted += getCost?.(run) ?? 0
    }
  }
  return {
    needed,
    opened,
    recall: divide(needed - missed.length, needed),
    precision: divide(useful, opened),
    missed: missed.slice(0, MAX_MISSED),
    missedInAll: missed.length,
    missedInFailures: missed.filter(({ failed }) => failed).length,
    sections: [...sections]
      .map(([path, { wasted, ...counts }]): MissedSection => ({ path, ...counts, wastedUsd: getCost ? wasted : null }))
      .sort((one, other) => other.missed - one.missed || (one.path < other.path ? -1 : 1)),
    unknown,
  }
}

function divide(part: number, whole: number): number | null {
  if (whole === 0) return null
  return part / whole
}
