import type { OpenAI } from 'openai'
import type { Json } from '../../core/json/json.ts'
import type { Features } from './features.ts'

export type ToolAdditions = 'auto' | 'native' | 'plain'

/** A model at an address, with what was learned of it. */
export interface Endpoint {
  readonly name: string
  readonly model: string
  readonly toolAdditions: ToolAdditions
  readonly reasoning: boolean
  readonly maxRetries: number | undefined
  readonly parameters: Readonly<Record<string, Json>>
  readonly features: Features
  client(): Promise<OpenAI>
}
