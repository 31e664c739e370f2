import type { PromptOverrides } from 'foldout/overrides'
import { choosePlace, type PlaceTerms } from 'foldout/disclosure'
import { simulate, type Bill, type SimulatedRun, type Simulation, type SimulationOptions } from 'foldout/telemetry'
import { FORCED, getStart } from './places.ts'

type Place = keyof typeof FORCED | 'closed'
/** Bills a run at a price, for which a place is chosen. */
export type BillRun = (
  run: SimulatedRun,
  options: SimulationOptions,
  price: Pick<PlaceTerms, 'cache' | 'perHour'>,
) => Promise<Bill>

/** Simulates a run once for the same sections in the same place, and bills it at every price. */
export function rememberSimulations(): BillRun {
  const known = new Map<string, Promise<Simulation>>()
  const shapes = new WeakMap<PromptOverrides, Shape>()
  return async (run, { overrides = {}, ...options }, price) => {
    const shape = shapes.get(overrides) ?? describeShape(run, overrides)
    shapes.set(overrides, shape)
    const steps = JSON.stringify([run.input, run.steps])
    const { ahead, ...closed } = overrides
    const simulateAt = (place: Place): Promise<Simulation> => {
      const key = `${place} ${shape.open} ${steps}`
      const how = place === 'closed' ? { overrides: closed } : { overrides, ...FORCED[place] }
      const simulation = known.get(key) ?? simulate(run, { ...options, ...how })
      known.set(key, simulation)
      return simulation
    }
    const choose = async (): Promise<Place> => {
      if (!ahead) return 'closed'
      const shared = getStart(await simulateAt('closed'))
      const opened = getStart(await simulateAt('system')) - shared
      return choosePlace({ ...price, variants: shape.variants, shared, opened })
    }
    return (await simulateAt(await choose())).bill(options)
  }
}

interface Shape {
  /** The sections that are open, in a prompt whose others are folded. */
  readonly open: string
  /** With how many different sections conversations may begin. */
  readonly variants: number
}

function describeShape({ prompt }: SimulatedRun, overrides: PromptOverrides): Shape {
  const sections = Object.entries(overrides.sections ?? {})
  const open = sections.flatMap(([path, { visibility }]) => (visibility === 'full' ? [path] : []))
  return { open: open.join(), variants: prompt.render({ overrides }).summarized.length + 1 }
}
