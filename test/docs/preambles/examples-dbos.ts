import { DBOS as Dbos } from '@dbos-inc/dbos-sdk'
import { createLocalEngine, defineRun, startRun } from 'foldout/dbos'
import { adapter, bound, store } from './examples.ts'

export const DBOS = Dbos
export const engine = createLocalEngine()
export const support = defineRun({ name: 'support', engine, store, prompt: bound, adapter })
export const run = await startRun(support, { id: 'ticket-17', input: 'Where is my parcel?' })
