export { generateText, stepCountIs } from 'ai'
import type { LanguageModel } from 'ai'

export declare const model: LanguageModel
export declare function google(model: string): Exclude<LanguageModel, string>
