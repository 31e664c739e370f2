import type { Evaluation, Message } from '../../adapters/contract.ts'
import type { TokenCounter } from '../../core/tokens/tokens.ts'
import { toolDefinition, toolTokens } from '../../tools/definition.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { messagePart, type Part, type RequestParts } from './request.ts'
import type { ShownTexts } from './shown.ts'
import type { SimulatedAdapter } from './contract.ts'

/** A message of a conversation, or tools that were added to it. */
type Entry =
  | { readonly type: 'message'; readonly part: Part; readonly shows?: string }
  | { readonly type: 'tools'; readonly tools: readonly AnyTool[] }

/** The conversation of a simulated run, and the requests that were made with it. */
export interface Transcript {
  readonly requests: readonly RequestParts[]
  /** Returns the system text and everything below it, as the model sees them now. */
  getTexts(): ShownTexts
  /** Begins with a render of the prompt, or continues with a new one. */
  setPrompt(evaluation: Evaluation): void
  /** Takes the conversation as it is sent, with its added tools, in place of what was added to it here. */
  setMessages(evaluation: Pick<Evaluation, 'messages' | 'addedTools'>): void
  /** Sends the conversation so far to the model, which replies with this number of tokens. */
  addRequest(outputTokens: number): void
  /** Lets time pass before the next request. */
  wait(ms: number): void
  addMessage(message: Exclude<Message, { role: 'tools' }>): void
  /** Adds a message with a known cost; `shows` is the text that the model reads in it. */
  addPart(part: Part, shows?: string): void
  /** Adds tools to the conversation, except those that it has. */
  addTools(tools: Iterable<AnyTool>): void
}

export function createTranscript(kind: SimulatedAdapter, counter: TokenCounter): Transcript {
  const requests: RequestParts[] = []
  let entries: Entry[] = []
  let system = ''
  let promptTools: readonly AnyTool[] = []
  let waited = 0

  const toToolPart = (tool: AnyTool): Part => ({
    text: JSON.stringify(toolDefinition(tool)),
    tokens: toolTokens(tool, counter),
  })
  const toEntry = (message: Exclude<Message, { role: 'tools' }>): Entry => {
    const shows = message.role === 'assistant' ? {} : { shows: message.text }
    return { type: 'message', part: messagePart(message, counter), ...shows }
  }
  return {
    requests,
    getTexts: () => [
      system,
      ...entries.flatMap((entry) => (entry.type === 'message' && entry.shows !== undefined ? [entry.shows] : [])),
    ],
    setPrompt(evaluation) {
      system = evaluation.system
      promptTools = evaluation.tools
      // A new render lists the tools that were added to the conversation.
      const listed = new Set(promptTools.map(({ name }) => name))
      entries = entries.flatMap((entry): readonly Entry[] => {
        if (entry.type !== 'tools') return [entry]
        const tools = entry.tools.filter(({ name }) => !listed.has(name))
        if (tools.length > 0) return [{ type: 'tools', tools }]
        return []
      })
    },
    setMessages({ messages, addedTools }) {
      const listed = new Set(promptTools.map(({ name }) => name))
      entries = messages.flatMap((message): readonly Entry[] => {
        if (message.role !== 'tools') return [toEntry(message)]
        const tools = message.names.flatMap((name) => (listed.has(name) ? [] : (addedTools.get(name) ?? [])))
        if (tools.length > 0) return [{ type: 'tools', tools }]
        return []
      })
    },
    wait(ms) {
      waited += ms
    },
    addRequest(outputTokens) {
      const isListed = kind === 'dynamic-plain'
      const added = entries.flatMap((entry) => (entry.type === 'tools' ? entry.tools.map(toToolPart) : []))
      requests.push({
        tools: [...promptTools.map(toToolPart), ...(isListed ? added : [])],
        system: { text: system, tokens: counter.count(system) },
        messages: entries.flatMap((entry) => {
          if (entry.type === 'message') return [entry.part]
          if (isListed) return []
          return entry.tools.map(toToolPart)
        }),
        outputTokens,
        afterMs: waited,
      })
      waited = 0
    },
    addMessage(message) {
      entries.push(toEntry(message))
    },
    addPart(part, shows) {
      entries.push({ type: 'message', part, ...(shows !== undefined && { shows }) })
    },
    addTools(tools) {
      const known = new Set(
        [...promptTools, ...entries.flatMap((entry) => (entry.type === 'tools' ? entry.tools : []))].map(
          ({ name }) => name,
        ),
      )
      const added = [...tools].filter(({ name }) => !known.has(name))
      if (added.length > 0) entries.push({ type: 'tools', tools: added })
    },
  }
}
