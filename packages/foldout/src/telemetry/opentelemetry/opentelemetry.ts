import {
  SpanKind,
  SpanStatusCode,
  context,
  metrics,
  trace,
  type Attributes,
  type Context,
  type Meter,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import type { AssistantMessage, ToolCall, Usage } from '../../adapters/contract.ts'
import type { AgentEvent, PromptRendered, ToolInvoked } from '../../agent/events.ts'
import { watchOpenings } from '../openings.ts'
import { watchRuns, type RunEnd } from '../runs.ts'
import { createInstruments } from './instruments.ts'

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
  /** Names the agent in its spans, such as the prompt's key. */
  readonly agentName?: string
  /** Default: the global provider's, for `foldout`. */
  readonly tracer?: Tracer
  /** Default: the global provider's, for `foldout`. */
  readonly meter?: Meter
  /**
   * Whether spans contain what the model said, and the arguments and results of tools. Default false. The keys and the
   * reason of an opening are always included.
   */
  readonly captureContent?: boolean
}

/**
 * Creates a listener that reports runs through the OpenTelemetry API, as spans and metrics with its GenAI names. Pass it to
 * `runAgent` as `onEvent`. It keeps the spans of the current run, so runs that overlap each need a listener of their own.
 *
 * @example
 * ```ts
 * const onEvent = createOpenTelemetryListener({ system: adapter.name, model: adapter.model })
 * await runAgent(bound, { adapter, onEvent })
 * ```
 */
export function createOpenTelemetryListener(options: OpenTelemetryOptions): (event: AgentEvent) => void {
  const { system, model, tracer = trace.getTracer('foldout'), meter = metrics.getMeter('foldout') } = options
  const common: Attributes = {
    'gen_ai.system': system,
    'gen_ai.provider.name': system,
    'gen_ai.request.model': model,
  }
  const instruments = createInstruments(meter, common)
  const openings = watchOpenings((_opening, by) => {
    if (by === 'dynamic') instruments.openedDynamically()
  })
  let run: RunSpans | undefined
  const listener = watchRuns({
    begins: () => (run = startRun(tracer, common, options)),
    tells(event) {
      openings.onEvent(event)
      run?.tells(event)
      if (event.type === 'reply/received') {
        instruments.answered(event.usage)
        instruments.requestEnded(run?.requestSeconds() ?? 0, undefined)
      } else if (event.type === 'tools/injected') instruments.injected(event.names.length)
      else if (event.type === 'run/expanded') instruments.restarted()
    },
    ends(end) {
      openings.settle()
      if (run?.isAsking() && end.errorType !== undefined) instruments.requestEnded(run.requestSeconds(), end.errorType)
      run?.ends(end)
      run = undefined
    },
  })
  return listener.onEvent
}

interface RunSpans {
  tells(event: AgentEvent): void
  ends(end: RunEnd): void
  /** Whether a request is under way. */
  isAsking(): boolean
  /** How long the last request has taken. */
  requestSeconds(): number
}

function startRun(tracer: Tracer, common: Attributes, options: OpenTelemetryOptions): RunSpans {
  const { agentName, captureContent = false } = options
  const agent = tracer.startSpan(agentName === undefined ? 'invoke_agent' : `invoke_agent ${agentName}`, {
    kind: SpanKind.INTERNAL,
    attributes: {
      ...common,
      'gen_ai.operation.name': 'invoke_agent',
      ...(agentName === undefined ? {} : { 'gen_ai.agent.name': agentName }),
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
        const content = captureContent ? callContent(calls.get(event.callId), event) : {}
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
    getSeconds: () => (span ? measure() : seconds),
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
          ...usageAttributes(event.usage),
          ...(captureContent ? { 'gen_ai.output.messages': outputMessages(event.message) } : {}),
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
      // The event comes when the call has ended, and says how long it took.
      startTime: now - invoked.durationMs,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': invoked.name,
        'gen_ai.tool.call.id': invoked.callId,
        'gen_ai.tool.type': 'function',
        ...disclosureAttributes(invoked),
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
      agent.setAttributes(renderAttributes(event))
      return
    case 'tools/injected':
      agent.addEvent('foldout.tools.injected', {
        'foldout.tools.names': [...event.names],
        'foldout.disclosure.keys': [...event.keys],
      })
      return
    case 'run/expanded':
      agent.addEvent('foldout.disclosure.restart', {
        'foldout.disclosure.keys': [...event.keys],
        'foldout.disclosure.reason': event.reason,
        'foldout.disclosure.expansions': event.expansions,
      })
      return
    case 'run/finished':
      agent.setAttributes(usageAttributes(event.usage))
  }
}

function fail(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType)
  // Without a message: what failed may quote the content.
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function renderAttributes({ full, summarized }: PromptRendered): Attributes {
  return {
    'foldout.sections.full': full.length,
    'foldout.sections.summarized': summarized.length,
  }
}

function usageAttributes(usage: Usage): Attributes {
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
  }
}

function disclosureAttributes({ disclosure }: ToolInvoked): Attributes {
  if (!disclosure) return {}
  return {
    'foldout.disclosure.keys': [...disclosure.keys],
    'foldout.disclosure.reason': disclosure.reason,
    'foldout.sections.full': disclosure.full.length,
    'foldout.sections.summarized': disclosure.summarized.length,
  }
}

function callContent(call: ToolCall | undefined, invoked: ToolInvoked): Attributes {
  return {
    ...(call ? { 'gen_ai.tool.call.arguments': call.malformed ?? JSON.stringify(call.arguments) ?? '' } : {}),
    'gen_ai.tool.call.result': invoked.message,
  }
}

/** The reply as the GenAI conventions write messages. */
function outputMessages({ text, toolCalls }: AssistantMessage): string {
  const parts = [
    ...(text === '' ? [] : [{ type: 'text', content: text }]),
    ...toolCalls.map(({ id, name, arguments: args }) => ({ type: 'tool_call', id, name, arguments: args })),
  ]
  return JSON.stringify([{ role: 'assistant', parts }])
}
