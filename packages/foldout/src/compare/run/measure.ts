import type { Evaluation, EvaluationResult, Message, ProviderAdapter } from '../../adapters/contract.ts'
import type { AgentEvent } from '../../agent/events.ts'
import { dropUndefined } from 'foldout-shared/values'
import type { AnyTool } from '../../tools/tool.ts'
import type { Meter } from './meter.ts'

/** The same model, whose requests are measured as they are sent. */
export function measureAdapter(adapter: ProviderAdapter, meter: Meter): ProviderAdapter {
  const { name, model, canPause, ownsConversation, contextWindow, promptCache } = adapter
  return {
    name,
    model,
    ...dropUndefined({ canPause, ownsConversation, contextWindow, promptCache }),
    ...(adapter.compact && { compact: adapter.compact.bind(adapter) }),
    ...(adapter.refuseInput && { refuseInput: adapter.refuseInput.bind(adapter) }),
    // What an adapter knows about its model may change while it runs.
    get supportsDynamicTools() {
      return adapter.supportsDynamicTools
    },
    get bindsReasoning() {
      return adapter.bindsReasoning ?? false
    },
    get removesTools() {
      return adapter.removesTools ?? false
    },
    evaluate: (evaluation) => evaluate(adapter, evaluation, meter),
  }
}

async function evaluate(adapter: ProviderAdapter, evaluation: Evaluation, meter: Meter): Promise<EvaluationResult> {
  const messages: Message[] = [...evaluation.messages]
  const added = new Map<string, AnyTool>()
  let hasReported = false
  const result = await adapter.evaluate({
    ...evaluation,
    async beforeRequest() {
      await evaluation.beforeRequest()
      const { tools, system, addedTools } = evaluation
      meter.send({ tools, system, messages, findTool: (name) => added.get(name) ?? addedTools.get(name) })
    },
    async callTools(calls) {
      const outcome = await evaluation.callTools(calls)
      if (outcome.type === 'continue') for (const tool of outcome.added) added.set(tool.name, tool)
      return outcome
    },
    record(message) {
      messages.push(message)
      return evaluation.record(message)
    },
    emit(event) {
      if (event.type === 'reply/received') meter.reply(event.message, event.usage)
      if (event.type === 'reply/lost') meter.reply(undefined, event.usage)
      hasReported ||= event.type === 'reply/received'
      evaluation.emit(event)
    },
  })
  const last = messages.findLast(({ role }) => role === 'assistant')
  if (!hasReported) meter.reply(last, result.usage)
  return result
}

/** Follows the conversation of somebody else's loop, by its events. */
export interface HostListener {
  readonly messages: readonly Message[]
  onEvent(event: AgentEvent): void
}

/** Measures the requests of somebody else's loop. What the loop adds itself is not known. */
export function followHost(meter: Meter, findTool: (name: string) => AnyTool | undefined): HostListener {
  const messages: Message[] = []
  const offered = new Set<string>()
  let tools: readonly AnyTool[] = []
  let system = ''
  return {
    messages,
    onEvent(event) {
      if (event.type === 'run/started' && event.input !== undefined) messages.push({ role: 'user', text: event.input })
      if (event.type === 'prompt/rendered') system = event.text
      if (event.type === 'request/sent') {
        const isFirst = offered.size === 0
        const names = event.tools.filter((name) => !offered.has(name))
        for (const name of names) offered.add(name)
        if (isFirst) tools = names.flatMap((name) => findTool(name) ?? [])
        else if (names.length > 0) messages.push({ role: 'tools', names })
        meter.send({ tools, system, messages, findTool })
      }
      if (event.type === 'reply/received') {
        messages.push(event.message)
        meter.reply(event.message, event.usage)
      }
      if (event.type === 'tool/invoked') {
        const { callId, name, message: text, ok } = event
        messages.push({ role: 'tool', callId, name, text, isError: !ok })
      }
    },
  }
}
