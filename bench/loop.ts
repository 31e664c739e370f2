import { FOLDOUT, OPENAI_AGENTS, TURNS, loopContenders } from './loop-contenders.ts'
import { measure, QUICK, THOROUGH } from './measure.ts'
import { goal, progress, type Bench, type Goal, type Row } from './report.ts'

const SIZES = [10, 100, 1_000] as const

export const loopBench: Bench = {
  name: 'loop',
  question: 'What does a turn of the agent loop cost, without the model?',
  columns: [
    { key: 'tools', label: 'tools' },
    { key: 'contender', label: 'contender' },
    { key: 'microseconds', label: 'µs per turn' },
    { key: 'perRun', label: `ms per run of ${TURNS} turns` },
    { key: 'timesOurs', label: '× ours' },
  ],
  async run({ quick }) {
    const rows: Row[] = []
    const goals: Goal[] = []
    for (const tools of SIZES) {
      progress(`${tools.toLocaleString('en')} tools ...`)
      const contenders = await loopContenders(tools)
      const times = await measure(contenders, quick ? QUICK : THOROUGH)
      const ours = times.get(FOLDOUT)!
      for (const [contender, nanoseconds] of times) {
        rows.push({
          tools,
          contender,
          microseconds: nanoseconds / 1_000,
          perRun: (nanoseconds * TURNS) / 1e6,
          timesOurs: nanoseconds / ours,
        })
      }
      if (!times.has(OPENAI_AGENTS)) {
        rows.push({ tools, contender: `${OPENAI_AGENTS} (not installed, left out)`, microseconds: null })
      }
      const best = Math.min(...[...times].filter(([name]) => name !== FOLDOUT).map(([, nanoseconds]) => nanoseconds))
      goals.push(goal(`ours / the best other at ${tools.toLocaleString('en')} tools`, ours / best, '<=', 1))
    }
    return { rows, goals }
  },
}
