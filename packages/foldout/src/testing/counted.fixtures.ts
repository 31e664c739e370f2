import { scriptedAdapter, type ScriptedAdapter, type ScriptedOptions, type ScriptStep } from './scripted-adapter.ts'

const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 0 }

/** A scripted model whose requests all cost the same, for tests that add them up. */
export function countedAdapter(script: readonly ScriptStep[], options: ScriptedOptions = {}): ScriptedAdapter {
  return scriptedAdapter(script, { usage, ...options })
}
