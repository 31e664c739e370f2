import { signal } from '@preact/signals'
import type { ApprovalRow, CatalogView, SearchView, ToolDetail } from '../../../src/inspector/protocol/protocol.ts'
import { call } from '../base/connection.ts'

export const catalog = signal<CatalogView | undefined>(undefined)
export const problem = signal<string | undefined>(undefined)
export const query = signal('')
export const found = signal<SearchView | undefined>(undefined)
/** The tool that is looked at. */
export const chosen = signal<string | undefined>(undefined)
export const detail = signal<ToolDetail | undefined>(undefined)
/** The calls that wait for the user; undefined until they are known. */
export const approvals = signal<readonly ApprovalRow[] | undefined>(undefined)
export const approvalProblem = signal<string | undefined>(undefined)
export const tab = signal<'map' | 'tool' | 'exposures' | 'servers' | 'approvals'>('map')

export async function refresh(): Promise<void> {
  try {
    catalog.value = await call('catalog/get', {})
    problem.value = undefined
  } catch (error) {
    problem.value = (error as Error).message
  }
}

export async function refreshApprovals(): Promise<void> {
  try {
    approvals.value = await call('approvals/list', {})
    approvalProblem.value = undefined
  } catch (error) {
    approvalProblem.value = (error as Error).message
  }
}

/** Decides on a call as it is shown. */
export async function answerApproval({ id, seen }: ApprovalRow, isApproved: boolean): Promise<void> {
  try {
    await call('approvals/answer', { id, seen, isApproved })
    await refreshApprovals()
  } catch (error) {
    await refreshApprovals()
    approvalProblem.value = (error as Error).message
  }
}

const PAUSE_MS = 80
const HITS = 30
let timer: ReturnType<typeof setTimeout> | undefined
let abort: AbortController | undefined

/** Searches after a pause in typing. A newer search cancels an older one. */
export function search(text: string): void {
  query.value = text
  clearTimeout(timer)
  abort?.abort()
  if (text.trim() === '') {
    found.value = undefined
    return
  }
  timer = setTimeout(() => void find(text), PAUSE_MS)
}

async function find(text: string): Promise<void> {
  const mine = (abort = new AbortController())
  try {
    const outcome = await call('catalog/search', { query: text, limit: HITS }, mine.signal)
    if (!mine.signal.aborted) found.value = outcome
  } catch (error) {
    if (!mine.signal.aborted) problem.value = (error as Error).message
  }
}

/** Shows a tool beside the list. */
export async function choose(name: string): Promise<void> {
  chosen.value = name
  tab.value = 'tool'
  try {
    const answer = await call('catalog/tool', { name })
    if (chosen.value === name) detail.value = answer
  } catch (error) {
    problem.value = (error as Error).message
  }
}
