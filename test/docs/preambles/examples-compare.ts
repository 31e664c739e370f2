import type { SavedHeader, SavedRun } from 'foldout/compare'
import { compare, graders } from 'foldout/compare'
import { says, scriptedAdapter } from 'foldout/testing'
import { bound } from './examples.ts'

export * from './examples.ts'

export const report = await compare({
  cases: [{ id: 'refund', input: 'Refund order 17.', includes: 'Done' }],
  arms: { full: { prompt: bound, open: 'all' }, folded: { prompt: bound } },
  adapter: () => scriptedAdapter([says('Done.')]),
  grade: { done: graders.includes() },
})

export const header: SavedHeader = {
  type: 'header',
  version: 1,
  at: 0,
  base: 'full',
  arms: { full: 'a', folded: 'b' },
  models: { full: null, folded: null },
  cases: [{ id: 'refund', digest: 'c', input: 'Refund order 17.' }],
  repeat: 1,
  looks: [1],
  margin: 0.05,
  seed: 1,
  prices: null,
  perHour: null,
  counter: { name: 'estimated', exact: false },
}
export const runs: readonly SavedRun[] = []
