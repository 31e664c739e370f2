import { performance } from 'node:perf_hooks'
import { createCatalog, type RawTool } from 'foldout/catalog'

/** How the first search affects the rest of the process. */
export interface SearchStalls {
  readonly tools: number
  /** How long `createCatalog` itself takes, in milliseconds. */
  readonly createMs: number
  /** How long an immediate first search takes, in milliseconds. */
  readonly firstSearchMs: number
  /** The longest time the event loop was blocked meanwhile, in milliseconds of processor time. */
  readonly longestTurnMs: number
  /** The same in milliseconds of the clock, which on a busy machine counts the work of others too. */
  readonly longestTurnClockMs: number
}

/** Searches a catalog right after it was created, and watches the event loop. The first call in a process also loads the word vectors. */
export async function measureSearchStalls(tools: readonly RawTool[], query: string): Promise<SearchStalls> {
  await new Promise((resolve) => setTimeout(resolve, 20))
  const created = performance.now()
  const catalog = createCatalog(tools)
  const createMs = performance.now() - created
  await new Promise((resolve) => setImmediate(resolve))
  const watch = watchTurns()
  const started = performance.now()
  await catalog.search(query)
  const firstSearchMs = performance.now() - started
  return { tools: tools.length, createMs, firstSearchMs, ...watch.stop() }
}

/** Runs once per turn of the event loop and records how long each took. */
function watchTurns(): { stop(): Pick<SearchStalls, 'longestTurnMs' | 'longestTurnClockMs'> } {
  let longestTurnMs = 0
  let longestTurnClockMs = 0
  let clock = performance.now()
  let processor = process.cpuUsage()
  let next: NodeJS.Immediate
  const note = (): void => {
    const { user, system } = process.cpuUsage(processor)
    longestTurnMs = Math.max(longestTurnMs, (user + system) / 1_000)
    longestTurnClockMs = Math.max(longestTurnClockMs, performance.now() - clock)
    clock = performance.now()
    processor = process.cpuUsage()
  }
  const turn = (): void => {
    note()
    next = setImmediate(turn)
  }
  next = setImmediate(turn)
  return {
    stop() {
      note()
      clearImmediate(next)
      return { longestTurnMs, longestTurnClockMs }
    },
  }
}
