import { setTimeout as sleep } from 'node:timers/promises'
import { ignore } from 'foldout/promises'
import { EXIT } from '../support/exit-codes.ts'
import { toJson as toCallJson } from '../policy/approvals.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { withStore } from '../support/store.ts'
import { toLine } from '../support/text.ts'
import { formatFleet } from './format.ts'
import { openViewer, type FleetView, type FleetViewer } from './view.ts'
import type { StoreOptions } from '../support/store.ts'

/** Options of `foldout fleet`. */
export interface FleetCommandOptions extends StoreOptions {
  readonly json?: boolean
  readonly watch?: boolean
  /** In seconds. */
  readonly interval?: number
  readonly runs?: number
}

const DEFAULT_RUNS = 20
const DEFAULT_INTERVAL = 2
/** Moves the cursor to the top of the terminal and clears everything below. */
const REDRAW = '\u001B[H\u001B[J'
const CLEAR = '\u001B[2J'

/** `foldout fleet`: shows the machines that share a database. Returns the exit code. */
export async function showFleet(options: FleetCommandOptions, surroundings: Surroundings): Promise<number> {
  return withStore(options, surroundings, async (store, _config, settings) => {
    const viewer = await openViewer(store, settings)
    try {
      return await (options.watch ? watchFleet(viewer, options, surroundings) : showOnce(viewer, options, surroundings))
    } finally {
      await viewer.close()
    }
  })
}

async function showOnce(
  viewer: FleetViewer,
  options: FleetCommandOptions,
  surroundings: Surroundings,
): Promise<number> {
  const { stdout } = surroundings
  const view = await viewer.look(options.runs ?? DEFAULT_RUNS)
  if (options.json) stdout.write(`${JSON.stringify(toJson(view), null, 2)}\n`)
  else stdout.write(formatFleet(view, surroundings))
  return EXIT.done
}

/** Refreshes until the user stops it, which counts as success. If the database is unreachable, it keeps trying. */
async function watchFleet(
  viewer: FleetViewer,
  { json = false, runs = DEFAULT_RUNS, interval = DEFAULT_INTERVAL }: FleetCommandOptions,
  surroundings: Surroundings,
): Promise<number> {
  const { stdout, stderr, signal } = surroundings
  const isRedrawn = stdout.isTTY === true && !json
  if (isRedrawn) stdout.write(CLEAR)
  while (!signal.aborted) {
    try {
      const view = await viewer.look(runs)
      if (json) stdout.write(`${JSON.stringify({ at: new Date().toISOString(), ...toJson(view) })}\n`)
      else stdout.write(`${isRedrawn ? REDRAW : ''}${formatFleet(view, surroundings)}\n`)
    } catch (error) {
      if (signal.aborted) break
      stderr.write(`${toLine((error as Error).message)}\n`)
    }
    await ignore(sleep(interval * 1000, undefined, { signal }), 'Ctrl-C ends the wait')
  }
  return EXIT.done
}

function toJson({ calls, ...view }: FleetView) {
  return { ...view, calls: calls.map(toCallJson) }
}
