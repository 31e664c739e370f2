import type * as Ai from 'ai'
import { importPeer } from '../../core/peer.ts'
import type { JsonSchema } from '../../core/schema/schema.ts'

/** The package `ai`. Only its types are imported before it is needed. */
export type AiPackage = typeof Ai

export function loadAi(): Promise<AiPackage> {
  return importPeer('ai', () => import('ai'))
}

/**
 * Converts a schema without validation: arguments are checked where the tool runs, so the model reads what is wrong.
 */
export function toSdkSchema(ai: AiPackage, schema: JsonSchema): Ai.Schema<unknown> {
  return ai.jsonSchema<unknown>(schema as Parameters<AiPackage['jsonSchema']>[0])
}
