/**
 * The one-sided 5 % bounds of O'Brien and Fleming for one to five looks at equal steps of information: the last look's
 * value, by the number of looks. Earlier looks need more.
 */
const LAST = [1.645, 1.678, 1.71, 1.733, 1.751]

/** The most looks that there are bounds for. */
export const MAX_LOOKS = LAST.length

/** The z value that decides at one of several looks, counted from 0. With three: 2.96, 2.09, 1.71. */
export function getLookZ(look: number, looks: number): number {
  const last = LAST[Math.min(looks, MAX_LOOKS) - 1] ?? 1.645
  return last * Math.sqrt(looks / (look + 1))
}
