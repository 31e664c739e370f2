import { computed, signal } from '@preact/signals'
import type { ClientSummary, RunStatus, RunSummary } from '../../../src/inspector/protocol/protocol.ts'
import { runs } from './state.ts'

export type Listed = RunSummary | ClientSummary

/** How the list can be sorted, by the names that the page shows. */
export const ORDERS = {
  newest: 'Newest first',
  tokens: 'Most tokens in',
  peak: 'Largest context',
  openings: 'Most openings',
  duration: 'Longest',
} as const
export type Order = keyof typeof ORDERS

export interface Selection {
  /** Words that must all occur. */
  readonly text: string
  /** Only runs with this status; all if it is empty. */
  readonly status: RunStatus | ''
  readonly order: Order
}

const NO_SELECTION: Selection = { text: '', status: '', order: 'newest' }

/** What the user looks for in the list. */
export const selection = signal<Selection>(NO_SELECTION)
/** The runs and clients that the list shows, in its order. */
export const selected = computed(() => selectRuns(runs.value ?? [], selection.value))

export function changeSelection(change: Partial<Selection>): void {
  selection.value = { ...selection.value, ...change }
}

export function clearSelection(): void {
  selection.value = NO_SELECTION
}

function selectRuns(list: readonly Listed[], { text, status, order }: Selection): readonly Listed[] {
  const words = text.toLowerCase().split(/\s+/)
  const matching = list.filter((one) => {
    if (status !== '' && (one.kind !== 'run' || one.status !== status)) return false
    const content = getContent(one)
    return words.every((word) => content.includes(word))
  })
  // The server lists the newest first.
  if (order === 'newest') return matching
  return matching.toSorted((a, b) => measure(b, order) - measure(a, order))
}

/** What is searched. */
function getContent(one: Listed): string {
  const parts = one.kind === 'run' ? [one.input, one.prompt, one.model, one.id] : [one.name, one.user, one.preset]
  return parts.join('\n').toLowerCase()
}

/** Clients have none of these figures, and are last. */
function measure(one: Listed, order: Exclude<Order, 'newest'>): number {
  if (one.kind === 'client') return -1
  if (order === 'tokens') return one.usage.input
  if (order === 'duration') return one.durationMs
  return one[order]
}
