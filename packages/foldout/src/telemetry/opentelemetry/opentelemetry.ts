import { type OpenTelemetryOptions, startRun, type RunSpans } from './spans.ts'
import { metrics, trace, type Attributes, type Meter } from '@opentelemetry/api'
import type { Usage } from '../../adapters/contract.ts'
import type { AgentEvent } from '../../agent/events.ts'
import { DYNAMIC_OPENINGS, RESTARTS, TOOLS_INJECTED } from '../counters.ts'
import { watchOpenings } from '../openings.ts'
import { watchRuns } from '../runs.ts'

/**
 * Creates a listener that reports runs through the OpenTelemetry API, as spans and metrics with its GenAI names. Pass
 * it to `runAgent` as `onEvent`. It keeps the spans of the current run, so overlapping runs each need their own
 * listener.
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
      } else if (event.type === 'reply/lost') instruments.answered(event.usage)
      else if (event.type === 'tools/injected') instruments.injected(event.names.length)
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

interface Instruments {
  answered(usage: Usage): void
  requestEnded(seconds: number, errorType: string | undefined): void
  injected(tools: number): void
  restarted(): void
  openedDynamically(): void
}

/** Creates the metrics, with names and buckets from the GenAI conventions if they define them. */
function createInstruments(meter: Meter, common: Attributes): Instruments {
  const tokens = meter.createHistogram('gen_ai.client.token.usage', {
    unit: '{token}',
    description: 'Number of input and output tokens used.',
    advice: { explicitBucketBoundaries: Array.from({ length: 14 }, (_, power) => 4 ** power) },
  })
  const duration = meter.createHistogram('gen_ai.client.operation.duration', {
    unit: 's',
    description: 'GenAI operation duration.',
    advice: { explicitBucketBoundaries: Array.from({ length: 14 }, (_, power) => 2 ** power / 100) },
  })
  const injected = meter.createCounter(TOOLS_INJECTED, {
    unit: '{tool}',
    description: 'Tools that openings added to a conversation.',
  })
  const restarts = meter.createCounter(RESTARTS, {
    unit: '{restart}',
    description: 'Runs restarted because the model opened a section.',
  })
  const dynamic = meter.createCounter(DYNAMIC_OPENINGS, {
    unit: '{opening}',
    description: 'Openings that were answered without a restart.',
  })
  const chat = { ...common, 'gen_ai.operation.name': 'chat' }
  return {
    answered({ inputTokens, outputTokens }) {
      tokens.record(inputTokens, { ...chat, 'gen_ai.token.type': 'input' })
      tokens.record(outputTokens, { ...chat, 'gen_ai.token.type': 'output' })
    },
    requestEnded: (seconds, errorType) =>
      duration.record(seconds, errorType === undefined ? chat : { ...chat, 'error.type': errorType }),
    injected: (tools) => injected.add(tools, common),
    restarted: () => restarts.add(1, common),
    openedDynamically: () => dynamic.add(1, common),
  }
}
