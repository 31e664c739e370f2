import { cutText, formatCount } from '../../core/text.ts'
import { FOLDED, getSlot, type Slot } from '../definition/registry.ts'
import type { Frame } from './frame.ts'
import { ListedNode, type RenderedNode } from './node.ts'
import type { Renderer } from './renderer.ts'

/** A summary is not shortened below this length, because less says nothing. */
const SHORTEST_SUMMARY = 60

/** Folded siblings that share a list. */
interface List {
  readonly parent: string
  readonly slots: readonly Slot[]
  /** The most characters of the list. */
  readonly most: number
}

/** Shows the folded sections that are `listed` as lists, each at its first section. */
export function showLists(frame: Frame, renderer: Renderer, hint: string): Frame {
  const lists = findLists(frame, renderer)
  if (lists.length === 0) return frame
  const { counter } = renderer.options
  const made = new Map<number, RenderedNode>(frame.made)
  const changed: number[] = []
  for (const list of lists) {
    let text = `${describeList(list, renderer)}\n\n---\n[These sections are summarized. ${hint}]`
    for (const slot of list.slots) {
      const before = made.get(slot.index)
      if (before?.text !== text) made.set(slot.index, new ListedNode(slot, text, counter))
      changed.push(slot.index)
      text = ''
    }
  }
  return frame.next({ shown: frame.shown, made, context: frame.context, asked: frame.asked }, changed)
}

function findLists(frame: Frame, renderer: Renderer): readonly List[] {
  const { listed, slots } = renderer.options.registry
  const byParent = new Map<number, Slot[]>()
  for (const slot of listed) {
    if (frame.at(slot.index) !== FOLDED || renderer.writer.isAsked(slot)) continue
    const siblings = byParent.get(slot.parent)
    if (siblings) siblings.push(slot)
    else byParent.set(slot.parent, [slot])
  }
  return [...byParent].map(([parent, siblings]) => ({
    parent: parent === -1 ? '' : getSlot(slots, parent).path,
    slots: siblings,
    most: siblings.reduce((most, { section }) => Math.max(most, section.listed ?? 0), 0),
  }))
}

interface Line {
  readonly start: string
  readonly summary: string
}

/** The longest form that fits: whole lines, shortened lines, keys, a count. */
function describeList({ parent, slots, most }: List, renderer: Renderer): string {
  const lines = slots.map((slot): Line => describeSlot(slot, renderer))
  const starts = lines.reduce((sum, { start }) => sum + start.length + 1, 0)
  const length = findLength(
    lines.map(({ summary }) => summary.length),
    most - starts,
  )
  if (length >= SHORTEST_SUMMARY || lines.every(({ summary }) => summary.length <= length))
    return lines.map(({ start, summary }) => `${start}${cutAtWord(summary, length)}`).join('\n')
  const keys = slots.map(({ path }) => path).join(', ')
  if (keys.length <= most) return `Keys: ${keys}`
  const count = formatCount(slots.length, 'section')
  if (parent === '') return `${count}.`
  return `${count} in "${parent}".`
}

function describeSlot(slot: Slot, renderer: Renderer): Line {
  const { path, section } = slot
  const summary = toLine(renderer.writer.getSummary(slot) ?? '')
  if (section.title === section.key) return { start: `- ${path}: `, summary }
  return { start: `- ${path} (${toLine(section.title)}): `, summary }
}

function toLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Finds the length to which texts are cut so that they fit together. Shorter ones leave their room to longer ones. */
function findLength(lengths: readonly number[], most: number): number {
  const sorted = lengths.toSorted((a, b) => a - b)
  let left = most
  for (const [at, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - at))
    if (length > share) return Math.max(0, share)
    left -= length
  }
  return Number.POSITIVE_INFINITY
}

function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text
  let cut = cutText(text, most - 1)
  const space = cut.lastIndexOf(' ')
  if (space > most / 2) cut = cut.slice(0, space)
  return `${cut.replace(/[\s,;:.(-]+$/, '')}…`
}
