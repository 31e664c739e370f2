/** Things to choose from, by index: what each one is worth on its own, and what some are worth only together. */
export interface Choices {
  /** Negative for a thing that costs more than it brings. */
  readonly own: readonly number[]
  /** Never negative. */
  readonly together: readonly { readonly members: readonly number[]; readonly worth: number }[]
}

export interface BestSet {
  /** The chosen indexes, in ascending order. */
  readonly chosen: readonly number[]
  readonly worth: number
  /** Whether it is certain that no other set is better. */
  readonly isBest: boolean
}

/** After this many sets, the best one so far is taken. */
const MAX_LOOKS = 5_000

/** Tolerance, because sums of shares are not exact. */
const EPSILON = 1e-6

/**
 * Finds the set of at most `max` things with the highest worth, by branch and bound. What some things are worth only
 * together is split equally among them, which gives an upper bound for any set; sets that cannot beat the best one so
 * far are skipped. With few things, or few that matter, the search completes and the result is exact. If it is cut off,
 * the result is worth at least as much as the things that pay off on their own. Of equal sets, the first one found is
 * returned, so the result is deterministic.
 */
export function findBestSet(choices: Choices, max: number, maxLooks = MAX_LOOKS): BestSet {
  const { own, together } = choices
  const candidates = findCandidates(choices)
  const states: State[] = own.map(() => 'refused')
  for (const candidate of candidates) states[candidate] = 'open'
  const getOwn = (one: number): number => own[one] ?? 0
  let best = candidates
    .filter((one) => getOwn(one) > 0)
    .sort((a, b) => getOwn(b) - getOwn(a) || a - b)
    .slice(0, max)
  let bestWorth = computeWorth(choices, new Set(best))
  let looks = 0

  /** How many members of a group are still missing; `Infinity` if one of them was rejected. */
  const countMissing = (members: readonly number[]): number => {
    let missing = 0
    for (const member of members) {
      if (states[member] === 'refused') return Infinity
      if (states[member] === 'open') missing++
    }
    return missing
  }

  /**
   * Computes an upper bound for each open candidate: its own worth, and its share of every group that still has room.
   */
  const computeShares = (room: number): Share[] => {
    const shares = new Map<number, number>()
    for (const one of candidates) if (states[one] === 'open') shares.set(one, getOwn(one))
    for (const { members, worth } of together) {
      const missing = countMissing(members)
      if (missing === 0 || missing > room) continue
      for (const member of members) {
        const share = shares.get(member)
        if (share !== undefined) shares.set(member, share + worth / missing)
      }
    }
    return Array.from(shares, ([one, share]) => ({ one, share }))
      .filter(({ share }) => share > 0)
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
    const open = computeShares(room)
    const bound = open.slice(0, room).reduce((sum, { share }) => sum + share, worth)
    const [first] = open
    if (!first || bound <= bestWorth + EPSILON) return
    const { one } = first
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

interface Share {
  readonly one: number
  readonly share: number
}

/** Computes what a set is worth. */
export function computeWorth({ own, together }: Choices, chosen: ReadonlySet<number>): number {
  let worth = 0
  for (const one of chosen) worth += own[one] ?? 0
  for (const each of together) if (each.members.every((member) => chosen.has(member))) worth += each.worth
  return worth
}

/**
 * Finds the things that may be in a best set. A thing that costs more than every group it belongs to could bring is
 * never in one.
 */
function findCandidates({ own, together }: Choices): readonly number[] {
  const most = new Map(own.entries())
  for (let before = -1; before !== most.size;) {
    before = most.size
    for (const one of most.keys()) most.set(one, own[one] ?? 0)
    for (const { members, worth } of together) {
      if (!members.every((member) => most.has(member))) continue
      for (const member of members) most.set(member, (most.get(member) ?? 0) + worth)
    }
    for (const [candidate, worth] of most) if (worth <= EPSILON) most.delete(candidate)
  }
  return [...most.keys()]
}
