import { FoldoutError } from 'foldout'
import { enter, type AnyDoor } from './door.ts'
import type { Shape } from './shapes.ts'

const SIZES = { text: 2_000, json: 1_000 } as const

/** 16 times the input may cost this many times as much: 16 for n, 21 for n log n, 256 for n². */
export const MAX_GROWTH = 110

/** What the largest input may cost at most, in milliseconds, and below which growth does not matter. */
export const MAX_MILLISECONDS = 2_500
const UNIMPORTANT_MILLISECONDS = 40

export interface Growth {
  readonly size: number
  /** Milliseconds for the smallest and the largest input, which is 16 times as large. */
  readonly small: number
  readonly large: number
  /** How many times as much the largest costs; 16 is linear. */
  readonly growth: number
  readonly isBounded: boolean
}

/** Measures how the cost of a door grows. Tries again before it says that it grows too much: machines are busy. */
export async function measureGrowth(door: AnyDoor, [, make]: Shape<unknown>, attempts = 3): Promise<Growth> {
  const size = door.size ?? SIZES[door.takes]
  let best: Growth | undefined
  for (let attempt = 0; attempt < attempts && best?.isBounded !== true; attempt++) {
    const found = await measureOnce(door, make, size)
    if (!best || found.large < best.large) best = found
  }
  if (!best) throw new Error('There must be an attempt.')
  return best
}

async function measureOnce(door: AnyDoor, make: (size: number) => unknown, size: number): Promise<Growth> {
  await time(door, make, size)
  const small = Math.min(await time(door, make, size), await time(door, make, size))
  const middle = await time(door, make, size * 4)
  // What has grown by a square already would only take longer to tell.
  const isHopeless = middle > 400 && middle > small * 12
  const large = isHopeless ? middle * 16 : await time(door, make, size * 16)
  const growth = large / Math.max(small, 0.1)
  const isBounded = large < UNIMPORTANT_MILLISECONDS || (growth <= MAX_GROWTH && large <= MAX_MILLISECONDS)
  return { size, small, large, growth, isBounded }
}

/** Milliseconds of work in this process, not of waiting for others. */
async function time(door: AnyDoor, make: (size: number) => unknown, size: number): Promise<number> {
  const input = make(size)
  const start = performance.now()
  const used = process.cpuUsage()
  await attempt(door, input)
  const { user, system } = process.cpuUsage(used)
  return Math.min(performance.now() - start, (user + system) / 1_000)
}

/** Lets an input in. Only errors of Foldout may come out of it. */
export async function attempt(door: AnyDoor, input: unknown): Promise<void> {
  try {
    await enter(door, input)
  } catch (error) {
    if (!(error instanceof FoldoutError)) throw error
  }
}
