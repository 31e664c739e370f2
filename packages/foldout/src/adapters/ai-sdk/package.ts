import type * as Ai from 'ai'
import { importPeer } from '../../core/peer.ts'
import type { JsonSchema } from '../../core/schema/schema.ts'

/** The package `ai`. Only its types are imported before it is needed. */
export type AiPackage = typeof Ai

let loaded: AiPackage | undefined

/** With hooks of a loader, as telemetry installs them, importing a module again takes a millisecond. */
export async function loadAi(): Promise<AiPackage> {
  loaded ??= await importPeer('ai', () => import('ai'))
  return loaded
}

/**
 * Converts a schema without validation: arguments are checked where the tool runs, so the model reads what is wrong.
 */
export function toSdkSchema(ai: AiPackage, schema: JsonSchema): Ai.Schema<unknown> {
  return ai.jsonSchema<unknown>(schema as Parameters<AiPackage['jsonSchema']>[0])
}
