import type { ToolSuccess } from 'foldout'
import {
  answerInPlace,
  createHost,
  planOpening,
  type DisclosureView,
  type Host,
  type HostState,
  type Opening,
} from 'foldout/disclosure'
import { bound } from './examples.ts'

export const view: DisclosureView = bound.render().view
export const key = 'guide'
export const offered: readonly string[] = ['look']
const answer = answerInPlace(view, planOpening(view, ['refunds'], 'The customer wants a refund.'))
if (!answer.ok || !answer.opening) throw new Error('Nothing was opened.')
export const result: ToolSuccess & { readonly opening: Opening } = { ...answer, opening: answer.opening }

export const host: Host = createHost(bound)
export const state: { readonly events: HostState } = { events: [] }
