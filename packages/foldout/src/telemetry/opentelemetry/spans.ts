import {
  type Meter,
  type Tracer,
  SpanKind,
  SpanStatusCode,
  context,
  trace,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api'
import { dropUndefined } from 'foldout-shared/values'
import type { AssistantMessage, ToolCall, Usage } from '../../adapters/contract.ts'
import type { AgentEvent, PromptRendered, ToolInvoked } from '../../agent/events.ts'
import type { RunEnd } from '../runs.ts'

/** The spans of one run. */
export interface RunSpans {
  tells(event: AgentEvent): void
  ends(end: RunEnd): void
  /** Whether a request is in progress. */
  isAsking(): boolean
  /** How long the last request took, or has taken so far. */
  requestSeconds(): number
}

/** Starts the span of a run; the spans of its requests and tool calls are its children. */
export function startRun(tracer: Tracer, common: Attributes, options: OpenTelemetryOptions): RunSpans {
  const { agentName, captureContent = false } = options
  const agent = tracer.startSpan(agentName === undefined ? 'invoke_agent' : `invoke_agent ${agentName}`, {
    kind: SpanKind.INTERNAL,
    attributes: {
      ...common,
      'gen_ai.operation.name': 'invoke_agent',
      ...dropUndefined({ 'gen_ai.agent.name': agentName }),
    },
  })
  const parent = trace.setSpan(context.active(), agent)
  const chat = createChatSpans(tracer, parent, { common, model: options.model, captureContent })
  const calls = new Map<string, ToolCall>()
  return {
    isAsking: chat.isOpen,
    requestSeconds: chat.getSeconds,
    tells(event) {
      chat.tells(event)
      if (event.type === 'tool/called' && captureContent) calls.set(event.call.id, event.call)
      else if (event.type === 'tool/invoked') {
        const content = captureContent ? getCallContent(calls.get(event.callId), event) : {}
        addToolSpan(tracer, parent, event, content)
      } else reportOnAgent(agent, event)
    },
    ends({ status, errorType }) {
      chat.end(errorType)
      agent.setAttribute('foldout.run.status', status)
      if (errorType !== undefined) fail(agent, errorType)
      agent.end()
    },
  }
}

interface ChatSpans {
  tells(event: AgentEvent): void
  end(errorType: string | undefined): void
  isOpen(this: void): boolean
  getSeconds(this: void): number
}

/** One span for each request to the model. */
function createChatSpans(
  tracer: Tracer,
  parent: Context,
  options: { readonly common: Attributes; readonly model: string; readonly captureContent: boolean },
): ChatSpans {
  const { common, model, captureContent } = options
  let span: Span | undefined
  let sentAt = 0
  let seconds = 0
  const measure = (): number => (performance.now() - sentAt) / 1000
  const close = (): void => {
    seconds = measure()
    span?.end()
    span = undefined
  }
  return {
    isOpen: () => span !== undefined,
    getSeconds: () => {
      if (span) return measure()
      return seconds
    },
    tells(event) {
      if (event.type === 'request/sent') {
        span?.end()
        sentAt = performance.now()
        const attributes = { ...common, 'gen_ai.operation.name': 'chat' }
        span = tracer.startSpan(`chat ${model}`, { kind: SpanKind.CLIENT, attributes }, parent)
      } else if (event.type === 'request/retried') {
        span?.addEvent('foldout.request.retried', {
          'foldout.retry.attempt': event.attempt,
          'foldout.retry.delay_ms': event.delayMs,
        })
      } else if (event.type === 'reply/received') {
        span?.setAttributes({
          ...getUsageAttributes(event.usage),
          ...(captureContent && { 'gen_ai.output.messages': formatOutputMessages(event.message) }),
        })
        close()
      }
    },
    end(errorType) {
      if (span === undefined) return
      if (errorType !== undefined) fail(span, errorType)
      close()
    },
  }
}

function addToolSpan(tracer: Tracer, parent: Context, invoked: ToolInvoked, content: Attributes): void {
  const now = Date.now()
  const span = tracer.startSpan(
    `execute_tool ${invoked.name}`,
    {
      kind: SpanKind.INTERNAL,
      // The event comes after the call and says how long the call took.
      startTime: now - invoked.durationMs,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': invoked.name,
        'gen_ai.tool.call.id': invoked.callId,
        'gen_ai.tool.type': 'function',
        ...getDisclosureAttributes(invoked),
        ...content,
      },
    },
    parent,
  )
  if (!invoked.ok) fail(span, 'tool_failure')
  span.end(now)
}

function reportOnAgent(agent: Span, event: AgentEvent): void {
  switch (event.type) {
    case 'prompt/rendered':
      agent.setAttributes(getRenderAttributes(event))
      return
    case 'tools/injected':
      agent.addEvent('foldout.tools.injected', {
        'foldout.tools.names': [...event.names],
        'foldout.disclosure.keys': [...event.keys],
      })
      return
    case 'results/folded':
      agent.addEvent('foldout.folded', {
        'foldout.fold.reason': event.reason,
        'foldout.fold.results': event.callIds.length,
        'foldout.fold.context': event.context,
        'foldout.fold.freed': event.freed,
        'foldout.fold.cost': event.cost,
        'foldout.fold.gain': event.gain,
        ...(event.sections && { 'foldout.fold.sections': [...event.sections] }),
        ...(event.summarized !== undefined && { 'foldout.fold.summarized': event.summarized }),
        ...(event.lostReasoning !== undefined && { 'foldout.fold.lost_reasoning': event.lostReasoning }),
      })
      return
    case 'result/read':
      agent.addEvent('foldout.read_back', {
        'gen_ai.tool.name': event.tool,
        'gen_ai.tool.call.id': event.callId,
        'foldout.read_back.age': event.age,
        'foldout.read_back.tokens': event.tokens,
      })
      return
    case 'run/expanded':
      agent.addEvent('foldout.disclosure.restart', {
        'foldout.disclosure.keys': [...event.keys],
        'foldout.disclosure.reason': event.reason,
        'foldout.disclosure.expansions': event.expansions,
      })
      return
    case 'approval/asked':
      agent.addEvent('foldout.approval.asked', {
        'gen_ai.tool.name': event.tool,
        'gen_ai.tool.call.id': event.callId,
      })
      return
    case 'approval/answered':
      agent.addEvent('foldout.approval.answered', {
        'gen_ai.tool.name': event.tool,
        'gen_ai.tool.call.id': event.callId,
        'foldout.approval.approved': event.approved,
      })
      return
    case 'run/finished':
      agent.setAttributes(getUsageAttributes(event.usage))
  }
}

function fail(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType)
  // Without a message, because an error may quote content.
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function getRenderAttributes({ full, summarized }: PromptRendered): Attributes {
  return {
    'foldout.sections.full': full.length,
    'foldout.sections.summarized': summarized.length,
  }
}

function getUsageAttributes(usage: Usage): Attributes {
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
    ...dropUndefined({
      'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
      'foldout.usage.cost_usd': usage.costUsd,
    }),
  }
}

function getDisclosureAttributes({ disclosure }: ToolInvoked): Attributes {
  if (!disclosure) return {}
  return {
    'foldout.disclosure.keys': [...disclosure.keys],
    'foldout.disclosure.reason': disclosure.reason,
    'foldout.sections.full': disclosure.full.length,
    'foldout.sections.summarized': disclosure.summarized.length,
  }
}

function getCallContent(call: ToolCall | undefined, invoked: ToolInvoked): Attributes {
  return {
    ...(call && { 'gen_ai.tool.call.arguments': call.malformed ?? JSON.stringify(call.arguments) ?? '' }),
    'gen_ai.tool.call.result': invoked.message,
  }
}

/** Formats a reply the way the GenAI conventions write messages. */
function formatOutputMessages({ text, toolCalls }: AssistantMessage): string {
  const parts = [
    ...(text === '' ? [] : [{ type: 'text', content: text }]),
    ...toolCalls.map(({ id, name, arguments: args }) => ({ type: 'tool_call', id, name, arguments: args })),
  ]
  return JSON.stringify([{ role: 'assistant', parts }])
}

/**
 * The options of {@link createOpenTelemetryListener}.
 *
 * @example
 * ```ts
 * const options: OpenTelemetryOptions = { system: adapter.name, model: adapter.model, agentName: 'support' }
 * ```
 */
export interface OpenTelemetryOptions {
  /** The provider as OpenTelemetry names it: the adapter's `name`. */
  readonly system: string
  /** The adapter's `model`. */
  readonly model: string
  /** The name of the agent in its spans, such as the prompt's key. */
  readonly agentName?: string
  /** The tracer. Default: the global provider's tracer for `foldout`. */
  readonly tracer?: Tracer
  /** The meter. Default: the global provider's meter for `foldout`. */
  readonly meter?: Meter
  /**
   * Whether spans contain the model's texts, and the arguments and results of tools. Default false. The keys and the
   * reason of an opening are always included.
   */
  readonly captureContent?: boolean
}
