import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { HOSTS } from './hosts/contenders.ts'
import { goal, progress, type Bench, type Row } from './report.ts'

/** Why a host does not keep a whole prefix. */
const REASONS: Readonly<Record<string, string>> = {
  'Claude Agent SDK': 'its executable sorts the tools by name',
}

/** Each turn starts a program there. */
const SLOW = 'Claude Agent SDK'

export const hostsBench: Bench = {
  name: 'hosts',
  question: 'What do the loops of others keep of a prefix, and what does a prompt in them cost?',
  columns: [
    { key: 'host', label: 'host' },
    { key: 'prefixKept', label: '% of the prefix kept' },
    { key: 'reason', label: 'why not all' },
    { key: 'bareMs', label: 'ms of CPU per turn, bare' },
    { key: 'addedMs', label: 'ms of CPU added' },
    { key: 'atOnce', label: '% added, model answers at once' },
    { key: 'inASecond', label: '% added, model takes a second' },
  ],
  async run({ quick }) {
    const rows = HOSTS.map((host): Row => {
      progress(`${host} ...`)
      const rounds = host === SLOW ? 4 : 60
      return { reason: REASONS[host] ?? '', ...measure(host, quick ? Math.ceil(rounds / 6) : rounds) }
    })
    const each = (key: string, name: string, comparison: '<=' | '>=', limit: number) =>
      rows.map((row) => goal(`${row['host']}: ${name}`, Number(row[key]), comparison, limit))
    return {
      rows,
      goals: [
        ...each('prefixKept', '% of the prefix kept over ten turns', '>=', 100).filter(({ name }) => !hasReason(name)),
        ...each('inASecond', '% added to a turn whose model takes a second', '<=', 2),
        ...each('atOnce', '% added to a turn whose model answers at once', '<=', 2),
      ],
    }
  },
}

const hasReason = (goalName: string): boolean => Object.keys(REASONS).some((host) => goalName.startsWith(host))

function measure(host: string, rounds: number): Row {
  const program = join(import.meta.dirname, 'hosts/measure.ts')
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', 'tsx', program, host, String(rounds)], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${host} was not measured: ${stderr}`)
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Row
}
