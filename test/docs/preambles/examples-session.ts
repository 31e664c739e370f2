import { createSession } from 'foldout'
import { defineLog, toolInvoked } from 'foldout/session'
import { cart } from './examples.ts'

export const history = defineLog({ name: 'history', of: [toolInvoked] })
export const session = createSession({ slices: [cart, history] })
