import type { Message, Usage } from '../../adapters/contract.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import { countCommonTokens } from '../../telemetry/simulate/cache.ts'
import { getTokens, messagePart, type Part } from '../../telemetry/simulate/request.ts'
import { toolDefinition, toolTokens } from '../../tools/definition.ts'
import type { AnyTool } from '../../tools/tool.ts'
import type { SavedRequest } from '../contract/saved.ts'

/** A request as it is sent. */
export interface SentRequest {
  /** The tools before the conversation. */
  readonly tools: readonly AnyTool[]
  readonly system: string
  readonly messages: readonly Message[]
  /** Finds the definition of a tool that a message adds. */
  findTool(name: string): AnyTool | undefined
}

/** Measures the requests of a run, so that they can be billed with any cache. */
export interface Meter {
  readonly requests: readonly SavedRequest[]
  /** What the first request began with. */
  readonly first: { readonly tools: readonly string[]; readonly system: string } | undefined
  send(request: SentRequest): void
  reply(message: Message | undefined, usage: Usage | undefined): void
}

interface Parts {
  readonly tools: readonly Part[]
  readonly system: Part
  readonly messages: readonly Part[]
  readonly outputTokens: number
  readonly afterMs: number
}

/** The same messages and tools are sent again and again. */
function remember<Key extends object>(make: (key: Key) => Part): (key: Key) => Part {
  const made = new WeakMap<Key, Part>()
  return (key) => {
    const known = made.get(key)
    if (known) return known
    const part = make(key)
    made.set(key, part)
    return part
  }
}

/** A beginning that requests may share: a restart has another one, and so has a run inside the run. */
const MAX_BEGINNINGS = 8

export function createMeter(counter: TokenCounter): Meter {
  const requests: SavedRequest[] = []
  const latest = new Map<string, Parts>()
  let first: Meter['first']
  let sentAt: number | undefined
  const toPart = remember((message: Exclude<Message, { role: 'tools' }>): Part => messagePart(message, counter))
  const toToolPart = remember((tool: AnyTool): Part => ({
    text: JSON.stringify(toolDefinition(tool)),
    tokens: toolTokens(tool, counter),
  }))
  const measure = (request: SentRequest): { readonly parts: Parts; readonly added: number } => {
    let added = 0
    const messages = request.messages.flatMap((message): readonly Part[] => {
      if (message.role !== 'tools') return [toPart(message)]
      const tools = message.names.flatMap((name) => request.findTool(name) ?? []).map(toToolPart)
      added += getTokens(tools)
      return tools
    })
    const tools = request.tools.map(toToolPart)
    const system = { text: request.system, tokens: counter.count(request.system) }
    return { parts: { tools, system, messages, outputTokens: 0, afterMs: 0 }, added }
  }
  let addedBefore = 0
  return {
    requests,
    get first() {
      return first
    },
    send(request) {
      const { parts, added } = measure(request)
      const now = performance.now()
      const others = [...latest.values()]
      const share = (step: number | undefined): number =>
        Math.max(0, ...others.map((other) => countCommonTokens({ step }, other, parts, counter)))
      const start = getTokens(parts.tools) + parts.system.tokens
      first ??= { tools: parts.tools.map(({ text }) => text), system: request.system }
      requests.push({
        input: start + getTokens(parts.messages),
        start,
        tools: getTokens(parts.tools),
        added: Math.max(0, added - addedBefore),
        same: share(undefined),
        sameTokens: share(1),
        output: 0,
        afterMs: Math.round(now - (sentAt ?? now)),
      })
      addedBefore = added
      sentAt = now
      if (latest.size >= MAX_BEGINNINGS) latest.clear()
      latest.set(request.system, parts)
    },
    reply(message, usage) {
      const last = requests.at(-1)
      if (!last) return
      let output = usage?.outputTokens ?? 0
      if (output === 0 && message && message.role !== 'tools') output = toPart(message).tokens
      requests[requests.length - 1] = { ...last, output: last.output + output }
    },
  }
}
