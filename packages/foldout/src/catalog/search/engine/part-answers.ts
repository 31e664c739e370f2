import { computePartConfidence } from './confidence.ts'
import type { Searchable, SearchFit } from '../contract.ts'
import type { EngineFound } from './engine.ts'
import { computePartScore } from './ranking.ts'
import type { Steps } from '../slices.ts'

/** What answers one part of a request. */
export interface PartAnswer {
  readonly text: string
  /** The slot of the best tool for this part; `undefined` if nothing shares anything with it. */
  readonly slot: number | undefined
  readonly fit: SearchFit
}

/** How many of the best tools for a part are compared with it word by word. */
const FINALISTS = 3

/** Finds the best tool for each part of a request. Nothing for a request of one part. */
export function* answerParts<Tool extends Searchable>(found: EngineFound<Tool>): Steps<readonly PartAnswer[]> {
  const { ranking } = found
  const answers: PartAnswer[] = []
  for (const part of ranking.parts) {
    yield
    const nearest = Array.from(ranking.candidates, (slot) => ({ slot, score: computePartScore(part, slot) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score || compareNames(found, a.slot, b.slot))
      .slice(0, FINALISTS)
    const look = found.createLook(part.query)
    const looked = nearest
      .map(({ slot, score }) => ({ slot, look: look(slot), score }))
      .sort((a, b) => b.score + b.look.score - (a.score + a.look.score))
    const [best] = looked
    if (!best) {
      answers.push({ text: part.text, slot: undefined, fit: 'none' })
      continue
    }
    const { fit } = computePartConfidence(found, part, best.slot, best.look.likeness)
    answers.push({ text: part.text, slot: best.slot, fit })
  }
  return answers
}

/**
 * Puts the best tool for a part that no tool of the first ones answers among these: a request of three steps gets tools for all three.
 * It replaces the last tool for a part that has several.
 */
export function spreadOverParts(
  best: readonly number[],
  answers: readonly PartAnswer[],
  first: number,
  getPartOf: (slot: number) => number,
): readonly number[] {
  const shown = best.slice(0, first)
  const counts = answers.map((_, part) => shown.filter((slot) => getPartOf(slot) === part).length)
  const replaced: number[] = []
  for (const [part, { slot, fit }] of answers.entries()) {
    if (slot === undefined || fit !== 'good' || counts[part] !== 0 || shown.includes(slot)) continue
    const at = shown.findLastIndex((one) => (counts[getPartOf(one)] ?? 0) > 1)
    const out = shown[at]
    if (out === undefined) break
    counts[getPartOf(out)]!--
    counts[part] = 1
    shown.splice(at, 1)
    shown.push(slot)
    replaced.unshift(out)
  }
  const rest = best.slice(first).filter((slot) => !shown.includes(slot))
  return [...shown, ...replaced, ...rest].slice(0, best.length)
}

function compareNames<Tool extends Searchable>(found: EngineFound<Tool>, a: number, b: number): number {
  if (found.getTool(a).qualified < found.getTool(b).qualified) return -1
  return 1
}
