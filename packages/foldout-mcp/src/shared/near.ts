import { getEditDistance } from 'foldout-shared/edit-distance'

/** Whether two names differ by a letter or two. Short names may differ by one, because many short words are close. */
export function isNear(one: string, other: string): boolean {
  const most = Math.min(one.length, other.length) > 5 ? 2 : 1
  return getEditDistance(one.toLowerCase(), other.toLowerCase(), most) <= most
}
