import type { Attributes, Meter } from '@opentelemetry/api'
import type { Usage } from '../../adapters/contract.ts'
import { DYNAMIC_OPENINGS, RESTARTS, TOOLS_INJECTED } from '../counters.ts'

export interface Instruments {
  answered(usage: Usage): void
  requestEnded(seconds: number, errorType: string | undefined): void
  injected(tools: number): void
  restarted(): void
  openedDynamically(): void
}

/** The metrics, with the names and buckets of the GenAI conventions where there are any. */
export function createInstruments(meter: Meter, common: Attributes): Instruments {
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
    description: 'Tools that openings have added to a conversation.',
  })
  const restarts = meter.createCounter(RESTARTS, {
    unit: '{restart}',
    description: 'New renders of a prompt because the model opened something.',
  })
  const dynamic = meter.createCounter(DYNAMIC_OPENINGS, {
    unit: '{opening}',
    description: 'Openings that were answered without a new render.',
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
