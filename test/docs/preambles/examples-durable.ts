import { createLocalEngine, defineRun, startRun } from 'foldout/durable'
import { adapter, bound, store } from './examples.ts'

export const engine = createLocalEngine()
export const support = defineRun({ name: 'support', engine, store, prompt: bound, adapter })
export const run = await startRun(support, { id: 'ticket-17', input: 'Where is my parcel?' })
