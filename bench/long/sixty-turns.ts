import type { Segment } from './data.ts'

const TURNS = 60
const CHARACTERS_PER_TOKEN = 4

/** A conversation that reads a report of 5 to 40 kB in each turn, and needs a line of an old one in every tenth. */
export function createSixtyTurns(): Segment {
  const turns = Array.from({ length: TURNS }, (_, turn) => ({
    gap: 5,
    in: turn === 0 ? 20 : 0,
    out: 40,
    // Recorded sizes are scaled up, these are real.
    results: turn === TURNS - 1 ? [] : [[getCharacters(turn) / CHARACTERS_PER_TOKEN / 1.5, 'get_report'] as const],
    needs: turn % 10 === 9 ? [[turn - 8, 80] as const] : [],
  }))
  return { id: 'sixty-turns', base: 1_000, turns }
}

/** From 5,000 to 40,000 characters, the same in every run. */
function getCharacters(turn: number): number {
  return 5_000 + ((turn * 7_919) % 35_000)
}
