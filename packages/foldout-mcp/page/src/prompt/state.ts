import { computed, signal } from '@preact/signals'
import type {
  PromptRequest,
  PromptView,
  SectionRow,
  SectionState,
  StrategyName,
} from '../../../src/inspector/protocol/protocol.ts'
import { call } from '../base/connection.ts'

export const view = signal<PromptView | undefined>(undefined)
export const problem = signal<string | undefined>(undefined)
/** The render that the current one is compared with. */
export const pinned = signal<PromptView | undefined>(undefined)
export const strategy = signal<StrategyName | undefined>(undefined)
/** What was folded and opened by hand. */
const visibility = signal<Readonly<Record<string, SectionState>>>({})
/** What the last click changed. */
export const lastChange = signal<Change | undefined>(undefined)
export const cursor = signal(0)

export interface Change {
  readonly tokens: number
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

export const isChanged = computed(() => Object.keys(visibility.value).length > 0 || strategy.value !== undefined)

let latest = 0

/** Renders again. An answer that is overtaken by a later one is left out. */
export async function refresh(): Promise<void> {
  const mine = ++latest
  const request: PromptRequest = {
    visibility: visibility.value,
    ...(strategy.value !== undefined && { strategy: strategy.value }),
  }
  try {
    const next = await call('prompt/render', request)
    if (mine !== latest) return
    lastChange.value = view.value && compare(view.value, next)
    view.value = next
    problem.value = undefined
  } catch (error) {
    if (mine === latest) problem.value = (error as Error).message
  }
}

function compare(before: PromptView, after: PromptView): Change | undefined {
  const old = new Set(before.tools.map(({ name }) => name))
  const now = new Set(after.tools.map(({ name }) => name))
  const change = {
    tokens: after.tokens.total - before.tokens.total,
    added: [...now].filter((name) => !old.has(name)),
    removed: [...old].filter((name) => !now.has(name)),
  }
  if (change.tokens === 0 && change.added.length + change.removed.length === 0) return undefined
  return change
}

/** Opens a folded section, or folds an open one. Those around it are opened with it. */
export function toggle({ path, state, canFold }: SectionRow): void {
  if (state === 'open' && !canFold) return
  show(path, state === 'open' ? 'folded' : 'open')
}

/** Opens or folds one section. */
export function show(path: string, state: SectionState): void {
  const next = { ...visibility.value }
  if (state === 'folded') next[path] = 'folded'
  else {
    const keys = path.split('.')
    for (let depth = 1; depth <= keys.length; depth++) next[keys.slice(0, depth).join('.')] = 'open'
  }
  visibility.value = next
  void refresh()
}

/** Opens or folds whatever can be. */
export function setAll(state: SectionState): void {
  const sections = view.value?.sections ?? []
  visibility.value = Object.fromEntries(
    sections.filter(({ canFold }) => canFold || state === 'open').map(({ path }) => [path, state]),
  )
  void refresh()
}

export function reset(): void {
  visibility.value = {}
  strategy.value = undefined
  void refresh()
}

export function chooseStrategy(name: StrategyName | undefined): void {
  strategy.value = name
  void refresh()
}
