import { chatAdapter } from '../adapters/chat.ts'
import type { ChatReply, ChatRequest, Message, ProviderAdapter, ToolCall, Usage } from '../adapters/contract.ts'
import { countMessage } from '../agent/refold/context-count.ts'
import { FoldoutError } from '../core/errors.ts'
import { estimatedTokens } from '../core/tokens/tokens.ts'
import { toolTokens } from '../tools/definition.ts'

/**
 * A scripted model's reply to one request.
 *
 * @example
 * ```ts
 * const script: ScriptStep[] = [calls('look'), { throws: new Error('The network is down.') }, says('Done.')]
 * const adapter = scriptedAdapter(script)
 * ```
 */
export type ScriptStep =
  | { readonly says: string }
  | { readonly calls: readonly { readonly name: string; readonly arguments: unknown; readonly malformed?: string }[] }
  | { readonly throws: unknown }

/**
 * A step in which the model answers.
 *
 * @example
 * scriptedAdapter([says('Done.')])
 */
export const says = (text: string): ScriptStep => ({ says: text })

/**
 * A step in which the model calls a tool.
 *
 * @example
 * scriptedAdapter([calls('read_section', { section_key: 'guide' }), says('Done.')])
 */
export const calls = (name: string, args: unknown = {}): ScriptStep => ({ calls: [{ name, arguments: args }] })

/**
 * A step in which the model calls several tools in one reply.
 *
 * @example
 * scriptedAdapter([callsAll(['look', {}], ['take', { item: 'lamp' }]), says('Done.')])
 */
export const callsAll = (...list: readonly (readonly [name: string, args: unknown])[]): ScriptStep => ({
  calls: list.map(([name, args]) => ({ name, arguments: args })),
})

/**
 * A request that a scripted model received.
 *
 * @example
 * ```ts
 * const adapter = scriptedAdapter([says('Done.')])
 * await runAgent(bound, { adapter })
 * const [request]: readonly ScriptedRequest[] = adapter.requests
 * request?.tools // => [ 'look', 'read_section' ]
 * ```
 */
export interface ScriptedRequest {
  readonly system: string
  readonly messages: readonly Message[]
  /** Names of the tools offered, in the order in which a provider would receive them. */
  readonly tools: readonly string[]
}

/**
 * An adapter that follows a script.
 *
 * @example
 * ```ts
 * const adapter: ScriptedAdapter = scriptedAdapter([says('Done.')])
 * await runAgent(bound, { adapter })
 * adapter.requests.length // => 1
 * adapter.assertDone()
 * ```
 */
export interface ScriptedAdapter extends ProviderAdapter {
  readonly requests: readonly ScriptedRequest[]
  /** Throws if the script has steps left. */
  assertDone(): void
}

/**
 * The options of {@link scriptedAdapter}.
 *
 * @example
 * ```ts
 * const options: ScriptedOptions = { supportsDynamicTools: false, contextWindow: 8_000 }
 * const adapter = scriptedAdapter([says('Done.')], options)
 * ```
 */
export interface ScriptedOptions {
  /** Whether tools can be added to a running conversation. Default true. */
  readonly supportsDynamicTools?: boolean
  readonly contextWindow?: number
  /** The usage of each request. Default: an estimate of what was sent and said, without a cache. */
  readonly usage?: Usage
}

function estimateUsage({ system, messages, tools, addedTools }: ChatRequest, reply: Message): Usage {
  const offered = [...tools, ...addedTools.values()]
  const inputTokens =
    estimatedTokens.count(system) +
    offered.reduce((sum, tool) => sum + toolTokens(tool, estimatedTokens), 0) +
    messages.reduce((sum, message) => sum + countMessage(message, estimatedTokens), 0)
  return { inputTokens, outputTokens: countMessage(reply, estimatedTokens), cachedInputTokens: 0, cacheWriteTokens: 0 }
}

/**
 * Creates an adapter whose model follows a script and records its requests, for tests without a provider.
 *
 * @example
 * const adapter = scriptedAdapter([calls('look'), says('Done.')])
 * await runAgent(bound, { adapter, input: 'Go.' })
 * adapter.assertDone()
 */
export function scriptedAdapter(script: readonly ScriptStep[], options: ScriptedOptions = {}): ScriptedAdapter {
  const requests: ScriptedRequest[] = []
  const adapter = chatAdapter({
    name: 'scripted',
    model: 'script',
    ...(options.contextWindow !== undefined && { contextWindow: options.contextWindow }),
    // Tests of an application should not depend on the input that a real model accepts.
    refuseInput: () => undefined,
    async complete(request): Promise<ChatReply> {
      const { system, messages, tools, addedTools, signal, emit } = request
      signal.throwIfAborted()
      const step = script[requests.length]
      requests.push({
        system,
        messages: [...messages],
        tools: [...tools.map(({ name }) => name), ...addedTools.keys()],
      })
      if (!step)
        throw new FoldoutError(
          'script-ended',
          `The script has ${script.length} steps, but the model was asked for one more. Add a step, or end the run earlier.`,
        )
      if ('throws' in step) throw step.throws
      if ('says' in step) emit({ type: 'text/delta', text: step.says })
      const turn = requests.length
      const toolCalls: ToolCall[] =
        'calls' in step ? step.calls.map((call, i) => ({ id: `call-${turn}-${i + 1}`, ...call })) : []
      const message = { role: 'assistant', text: 'says' in step ? step.says : '', toolCalls } as const
      return { message, usage: options.usage ?? estimateUsage(request, message) }
    },
  })
  return {
    ...adapter,
    supportsDynamicTools: options.supportsDynamicTools ?? true,
    requests,
    assertDone() {
      const left = script.length - requests.length
      if (left > 0)
        throw new FoldoutError(
          'script-left',
          `The run ended with ${left} steps of the script left. Remove them, or find out why the run ended early.`,
        )
    },
  }
}
