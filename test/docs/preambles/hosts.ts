import type { LanguageModel, ModelMessage, Tool } from 'ai'
import type { Session } from 'foldout'
import type { SessionStore } from 'foldout/session'

export { bound } from './own-loop.ts'
export declare const lookUp: Tool
export declare const instructions: string
export declare const memory: object
export declare const model: LanguageModel
export declare const session: Session
export declare const store: SessionStore
export declare const loadMessages: (user: string) => Promise<ModelMessage[]>
export declare const saveMessages: (user: string, messages: ModelMessage[]) => Promise<void>
