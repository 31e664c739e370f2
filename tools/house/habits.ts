import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Visitor } from 'oxc-parser'
import { listPages } from '../site/pages.ts'
import { parseSource } from './sources.ts'

/** What is measured outside the packages' sources. */
export interface Habits {
  /** Tests that wait for a time instead of for an event. */
  readonly fixedSleeps: readonly { readonly path: string; readonly count: number }[]
  /** All words of the pages of the site, without the generated reference. */
  readonly words: number
  /** How long the tests of the last `npm test` took; undefined before the first. */
  readonly testSeconds: number | undefined
}

const SLEEP =
  /^(?:(?:sleep|delay|pause|wait|setTimeout)\(\s*[\d_]+|new Promise(?:<\w+>)?\(\(?\w*\)? => (?:void )?setTimeout\(\w+, [\d_]+)/

export function measureHabits(root: string): Habits {
  return { fixedSleeps: countFixedSleeps(root), words: countWords(root), testSeconds: readTestSeconds(root) }
}

function countFixedSleeps(root: string): Habits['fixedSleeps'] {
  const files = execFileSync('git', ['ls-files', 'packages', 'test'], { cwd: root, encoding: 'utf8' }).split('\n')
  return files
    .filter((path) => /\.(?:test|fixtures)\.ts$/.test(path) || /^test\/.*\.ts$/.test(path))
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, count: countFixedSleepsIn(path, readFileSync(join(root, path), 'utf8')) }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
}

/**
 * Counts the waits of a number of milliseconds. Waiting in a loop, until something is so, is no fixed time, and with fake timers
 * nothing waits.
 */
export function countFixedSleepsIn(path: string, text: string): number {
  if (!text.includes('await') || text.includes('useFakeTimers')) return 0
  let loops = 0
  let count = 0
  const enter = (): void => void loops++
  const leave = (): void => void loops--
  new Visitor({
    ForStatement: enter,
    'ForStatement:exit': leave,
    ForOfStatement: enter,
    'ForOfStatement:exit': leave,
    WhileStatement: enter,
    'WhileStatement:exit': leave,
    DoWhileStatement: enter,
    'DoWhileStatement:exit': leave,
    AwaitExpression({ argument }) {
      if (loops === 0 && SLEEP.test(text.slice(argument.start, argument.end))) count++
    },
  }).visit(parseSource(path, text).program)
  return count
}

function countWords(root: string): number {
  const texts = listPages().map(({ source }) => readFileSync(join(root, source), 'utf8'))
  return texts.reduce((sum, text) => sum + splitWords(text), 0)
}

function splitWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length
}

interface TestReport {
  readonly startTime: number
  readonly testResults: readonly { readonly endTime: number }[]
}

/** Reads the report that `npm test` leaves behind. */
function readTestSeconds(root: string): number | undefined {
  const file = join(root, 'node_modules/.cache/foldout/unit.json')
  if (!existsSync(file)) return undefined
  const { startTime, testResults } = JSON.parse(readFileSync(file, 'utf8')) as TestReport
  return Math.round((Math.max(...testResults.map(({ endTime }) => endTime)) - startTime) / 1_000)
}
