import { defineLog, toolInvoked } from 'foldout/session'

export const history = defineLog({ name: 'history', of: [toolInvoked] })
