// A scripted model that bills its requests like a provider with a prompt cache.
import { estimatedTokens, type ProviderAdapter, type ToolCall } from 'foldout'
import { chatAdapter } from 'foldout/adapter'

export type Line = { readonly says: string } | { readonly calls: readonly (readonly [name: string, args: object])[] }

export function createPaidModel(script: readonly Line[]): ProviderAdapter {
  let turn = 0
  let cached = 0
  let began = ''
  return chatAdapter({
    name: 'example',
    model: 'scripted-1',
    contextWindow: 8_000,
    async complete({ system, tools, addedTools, messages }) {
      const offered = [...tools, ...addedTools.values()]
      const inputTokens = estimatedTokens.count(
        JSON.stringify([
          system,
          offered.map(({ name, description, inputSchema }) => [name, description, inputSchema]),
          messages,
        ]),
      )
      // A different beginning is a different prefix, none of which is cached.
      const cachedInputTokens = system === began ? cached : 0
      began = system
      cached = inputTokens
      const line = script[turn] ?? { says: 'Done.' }
      const toolCalls: ToolCall[] =
        'calls' in line ? line.calls.map(([name, args], i) => ({ id: `call_${turn}_${i}`, name, arguments: args })) : []
      turn += 1
      const text = 'says' in line ? line.says : ''
      const outputTokens = estimatedTokens.count(JSON.stringify([text, toolCalls]))
      return {
        message: { role: 'assistant', text, toolCalls },
        usage: { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens: inputTokens - cachedInputTokens },
      }
    },
  })
}
