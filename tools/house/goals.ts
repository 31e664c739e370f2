import type { Habits } from './habits.ts'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { LARGE_CLASS, LARGE_FOLDER, LONG_FILE, LONG_FUNCTION, SMALL_FILE, type House } from './measure.ts'

/** The adapters for people who bring an SDK client, server or transport. */
const SDK_ADAPTERS = 2

/** A measure that may only get smaller. */
export interface Measure {
  readonly name: string
  readonly label: string
  readonly value: number
  /** The highest value it should have, if there is a goal. */
  readonly goal?: number
}

/** The best values so far, by measure. A measure must not become worse than its value here. */
export type Ratchet = Readonly<Record<string, number>>

export function getMeasures(house: House, habits?: Habits): readonly Measure[] {
  return [...getSourceMeasures(house), ...(habits ? getHabitMeasures(habits) : [])]
}

/** Words are held by `test/docs/words.test.ts`, and seconds depend on the machine: neither is held by the ratchet. */
function getHabitMeasures({ fixedSleeps }: Habits): readonly Measure[] {
  const value = fixedSleeps.reduce((sum, { count }) => sum + count, 0)
  return [{ name: 'fixedSleeps', label: 'fixed sleeps in tests', value, goal: 0 }]
}

function getSourceMeasures(house: House): readonly Measure[] {
  const root = house.entries.find(({ entry }) => entry === 'index')
  return [
    {
      name: 'longFunctions',
      label: `functions over ${LONG_FUNCTION} lines (not suites)`,
      value: house.longFunctions.length,
      goal: 0,
    },
    { name: 'longFiles', label: `files over ${LONG_FILE} lines`, value: house.longFiles.length, goal: 0 },
    { name: 'nonNullPerKiloLine', label: 'non-null `!` per kLoC', value: house.nonNull.perKiloLine, goal: 4 },
    { name: 'ternariesPerKiloLine', label: 'ternaries per kLoC', value: house.ternaries.perKiloLine, goal: 18 },
    { name: 'silentCatches', label: 'promises with a silent catch', value: house.silentCatches.count, goal: 0 },
    {
      name: 'largeClasses',
      label: `classes over ${LARGE_CLASS.lines} lines, ${LARGE_CLASS.fields} fields or ${LARGE_CLASS.methods} methods`,
      value: house.largeClasses.length,
      goal: 0,
    },
    { name: 'repeated', label: 'functions written in several places', value: house.repeated.length, goal: 0 },
    { name: 'twoWayFolders', label: 'folder pairs that import each other', value: house.twoWayFolders.length, goal: 0 },
    { name: 'cycles', label: 'import cycles, including types', value: house.cycles.length, goal: 5 },
    {
      name: 'sdkImports',
      label: 'files that load the MCP SDK at run time',
      value: house.sdkImports.length,
      goal: SDK_ADAPTERS,
    },
    { name: 'ofNames', label: 'functions named …Of', value: house.named.ofs.length },
    { name: 'participleNames', label: 'functions named by a participle', value: house.named.participles.length },
    {
      name: 'rootExports',
      label: 'exports of the root entry',
      value: (root?.values ?? 0) + (root?.types ?? 0),
      goal: 80,
    },
    { name: 'undocumented', label: 'public exports without a doc comment', value: house.undocumented.length, goal: 0 },
    {
      name: 'withoutExample',
      label: 'public exports without an `@example`',
      value: house.withoutExample.length,
      goal: 0,
    },
    {
      name: 'smallFiles',
      label: `files under ${SMALL_FILE} lines with a single importer`,
      value: house.smallFiles.length,
    },
    {
      name: 'largeFolders',
      label: `folders with more than ${LARGE_FOLDER} source files`,
      value: house.largeFolders.length,
      goal: 0,
    },
  ]
}

/**
 * Finds measures that are worse than both their goal and their best value. A measure without a goal is compared with its
 * best value; one that is not in the file is compared with its goal only.
 */
export function findRegressions(measures: readonly Measure[], ratchet: Ratchet): readonly string[] {
  return measures.flatMap(({ name, label, value, goal }) => {
    const reached = Object.hasOwn(ratchet, name) ? ratchet[name] : undefined
    const limit = Math.max(goal ?? -Infinity, reached ?? -Infinity)
    if (limit === -Infinity || value <= limit) return []
    return [`${label}: ${value}, which is more than ${limit}. See \`npm run -s house\`.`]
  })
}

export function readRatchet(file: string): Ratchet {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Ratchet) : {}
}

/** Saves improved values. Worse values are not saved, and measures that have met their goal are removed permanently. */
export function tightenRatchet(file: string, measures: readonly Measure[]): void {
  const before = readRatchet(file)
  const open = measures.filter(({ value, goal }) => goal === undefined || value > goal)
  const after = open.map(({ name, value }) => [name, Math.min(value, before[name] ?? value)] as const)
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(after), null, 2)}\n`)
}
