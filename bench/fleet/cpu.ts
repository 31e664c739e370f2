import { readdirSync, readFileSync } from 'node:fs'

/** What `/proc` counts in, on every Linux. */
const TICK_MS = 10

interface Usage {
  readonly parent: number
  readonly ms: number
}

/** The processor time of a process, and of its children that have ended. Nothing where there is no `/proc`. */
function readUsage(pid: number | string): Usage | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program may have spaces in it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return { parent: Number(fields[1]), ms: ticks * TICK_MS }
  } catch {
    return undefined
  }
}

/** The processor time of processes and of their children, in milliseconds; `NaN` where it cannot be known. */
export function readCpu(pids: readonly (number | undefined)[]): number {
  const own = pids.map((pid) => (pid === undefined ? undefined : readUsage(pid)))
  if (own.some((usage) => usage === undefined)) return Number.NaN
  const parents = new Set(pids)
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readUsage(name) ?? [])
    .filter(({ parent }) => parents.has(parent))
  return [...own, ...children].reduce((sum, usage) => sum + (usage?.ms ?? 0), 0)
}
