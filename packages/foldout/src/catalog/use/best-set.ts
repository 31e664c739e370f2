/** Things to choose from, by index: what each is worth by itself, and what some are worth only together. */
export interface Choices {
  /** Below zero where it costs more than it brings. */
  readonly own: readonly number[]
  /** Never below zero. */
  readonly together: readonly { readonly members: readonly number[]; readonly worth: number }[]
}

export interface BestSet {
  /** In ascending order. */
  readonly chosen: readonly number[]
  readonly worth: number
  /** Whether it is certain that there is no better one. */
  readonly isBest: boolean
}

/** How many sets are looked at before the best so far is taken. */
const MAX_LOOKS = 5_000

/** Sums of shares are not exact. */
const EPSILON = 1e-6

/**
 * The set of at most `max` things that is worth most, by branch and bound. An equal share for each member of what is worth
 * something only together bounds what any set can bring, and sets that cannot beat the best one so far are passed over. With
 * few things, or few that matter, that ends by itself and the result is exact; where it is cut off, the result is at least
 * what things are worth that pay by themselves. Of equal sets it is the one found first, which the numbers alone decide.
 */
export function bestSet(choices: Choices, max: number, maxLooks = MAX_LOOKS): BestSet {
  const { own, together } = choices
  const candidates = worthTrying(choices)
  const states: State[] = own.map(() => 'refused')
  for (const candidate of candidates) states[candidate] = 'open'
  let best = candidates
    .filter((one) => own[one]! > 0)
    .sort((a, b) => own[b]! - own[a]! || a - b)
    .slice(0, max)
  let bestWorth = computeWorth(choices, new Set(best))
  let looks = 0

  /** What each open candidate brings at most: its own worth, and its share of what there is still room for. */
  const shares = (room: number): { readonly one: number; readonly share: number }[] => {
    const share = [...own]
    for (const { members, worth } of together) {
      let missing = 0
      for (const member of members)
        missing += states[member] === 'refused' ? Infinity : states[member] === 'open' ? 1 : 0
      if (missing === 0 || missing > room) continue
      for (const member of members) if (states[member] === 'open') share[member]! += worth / missing
    }
    return candidates
      .filter((one) => states[one] === 'open' && share[one]! > 0)
      .map((one) => ({ one, share: share[one]! }))
      .sort((a, b) => b.share - a.share || a.one - b.one)
  }

  const look = (chosen: readonly number[]): void => {
    if (looks >= maxLooks) return
    looks++
    const worth = computeWorth(choices, new Set(chosen))
    if (worth > bestWorth + EPSILON) {
      best = [...chosen]
      bestWorth = worth
    }
    const room = max - chosen.length
    const open = shares(room)
    const bound = open.slice(0, room).reduce((sum, { share }) => sum + share, worth)
    if (bound <= bestWorth + EPSILON) return
    const { one } = open[0]!
    states[one] = 'chosen'
    look([...chosen, one])
    states[one] = 'refused'
    look(chosen)
    states[one] = 'open'
  }
  look([])
  return { chosen: best.sort((a, b) => a - b), worth: bestWorth, isBest: looks < maxLooks }
}

type State = 'open' | 'chosen' | 'refused'

export function computeWorth({ own, together }: Choices, chosen: ReadonlySet<number>): number {
  let worth = 0
  for (const one of chosen) worth += own[one]!
  for (const each of together) if (each.members.every((member) => chosen.has(member))) worth += each.worth
  return worth
}

/** Those that may be in a best set. One that costs more than all it could ever take part in is in none. */
function worthTrying({ own, together }: Choices): readonly number[] {
  const candidates = new Set(own.keys())
  for (let before = -1; before !== candidates.size;) {
    before = candidates.size
    const most = [...own]
    for (const { members, worth } of together)
      if (members.every((member) => candidates.has(member))) for (const member of members) most[member]! += worth
    for (const candidate of candidates) if (most[candidate]! <= EPSILON) candidates.delete(candidate)
  }
  return [...candidates]
}
