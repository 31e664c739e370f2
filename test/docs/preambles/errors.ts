import { createSession } from 'foldout'

export { adapter, bound } from './README.ts'
export const session = createSession()
export const retryLater = (_ms: number): void => undefined
