import { attempt } from './growth.ts'
import { createRandom, generateJson, generateText } from './generate.ts'
import { DOORS } from './registry.ts'

export interface FuzzOptions {
  readonly cases: number
  readonly seed: number
  /** Only doors whose name contains this. */
  readonly door?: string
  readonly onProgress?: (done: number) => void
}

export interface FuzzFailure {
  readonly door: string
  /** The seed of this case alone. */
  readonly seed: number
  readonly input: unknown
  readonly error: unknown
}

/** The most work one input may take, in milliseconds. Inputs are small, so more means that something grows too fast. */
const MAX_CASE_MILLISECONDS = 1_000

/** Lets random inputs in through all doors. Stops at the first one that causes anything but acceptance or refusal. */
export async function fuzz(options: FuzzOptions): Promise<FuzzFailure | undefined> {
  const doors = DOORS.filter((door) => door.skip === undefined && door.name.includes(options.door ?? ''))
  for (let index = 0; index < options.cases; index++) {
    const door = doors[index % doors.length]
    if (!door) return undefined
    const seed = options.seed + index
    const random = createRandom(seed)
    const input = door.takes === 'text' ? generateText(random) : generateJson(random)
    const used = process.cpuUsage()
    try {
      await attempt(door, input)
      const { user } = process.cpuUsage(used)
      if (user / 1_000 > MAX_CASE_MILLISECONDS) throw new Error(`It took ${Math.round(user / 1_000)} ms.`)
    } catch (error) {
      return { door: door.name, seed, input, error }
    }
    options.onProgress?.(index + 1)
  }
  return undefined
}
