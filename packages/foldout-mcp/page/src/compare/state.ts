import { computed, signal } from '@preact/signals'
import type { CaseReport, CompareCell, CompareView } from '../../../src/inspector/protocol/protocol.ts'
import { call } from '../base/connection.ts'

export const comparison = signal<CompareView | undefined>(undefined)
export const problem = signal<string | undefined>(undefined)

export async function refreshComparison(): Promise<void> {
  try {
    comparison.value = await call('compare/get', {})
    problem.value = undefined
  } catch (error) {
    problem.value = (error as Error).message
  }
}

/** Which cases the list shows, by the names that the page shows. */
export const FILTERS = {
  all: 'All cases',
  worse: 'Worse',
  better: 'Better',
  missed: 'Missed opening',
  undecided: 'Undecided',
  errors: 'Errors',
} as const
export type FilterName = keyof typeof FILTERS

export const filter = signal<FilterName>('all')
export const searched = signal('')

const getMean = ({ scores }: CompareCell): number => {
  if (scores.length === 0) return 0
  return scores.reduce((sum, score) => sum + score, 0) / scores.length
}

/** How much better an arm did in a case than the base: below 0, it did worse. */
export function getDifference({ arms }: CaseReport, arm: string, base: string): number {
  const [own, other] = [arms[arm], arms[base]]
  if (own && other && own.scores.length > 0 && other.scores.length > 0) return getMean(own) - getMean(other)
  return 0
}

const TESTS: Readonly<Record<FilterName, (one: CaseReport, base: string) => boolean>> = {
  all: () => true,
  worse: (one, base) => Object.keys(one.arms).some((arm) => getDifference(one, arm, base) < 0),
  better: (one, base) => Object.keys(one.arms).some((arm) => getDifference(one, arm, base) > 0),
  missed: ({ arms }) => Object.values(arms).some(({ hasMissed }) => hasMissed),
  // The repeats of one arm do not agree.
  undecided: ({ arms }) => Object.values(arms).some(({ scores }) => new Set(scores).size > 1),
  errors: ({ arms }) => Object.values(arms).some(({ errors }) => errors > 0),
}

const NONE: readonly CaseReport[] = []

/** How many cases each filter leaves. */
export const counts = computed(() => {
  const { cases = NONE, base = '' } = comparison.value?.report ?? {}
  return Object.fromEntries(
    Object.entries(TESTS).map(([name, fits]) => [name, cases.filter((one) => fits(one, base)).length]),
  ) as Readonly<Record<FilterName, number>>
})

/** The cases that are listed. */
export const listed = computed(() => {
  const { cases = NONE, base = '' } = comparison.value?.report ?? {}
  const words = searched.value.toLowerCase().split(/\s+/)
  return cases.filter((one) => {
    if (!TESTS[filter.value](one, base)) return false
    const content = `${one.id}\n${one.input}`.toLowerCase()
    return words.every((word) => content.includes(word))
  })
})
