import {
  INVALID_SPAN_CONTEXT,
  createNoopMeter,
  trace,
  type Attributes,
  type Meter,
  type MetricOptions,
  type Span,
  type SpanKind,
  type SpanStatus,
  type Tracer,
} from '@opentelemetry/api'

export interface KeptSpan {
  readonly name: string
  readonly kind: SpanKind | undefined
  readonly parent: string | undefined
  readonly attributes: Attributes
  readonly events: { readonly name: string; readonly attributes: unknown }[]
  status: SpanStatus | undefined
  ended: number
}

/** A tracer that records its spans in starting order. */
export function keepingTracer(): { readonly tracer: Tracer; readonly spans: readonly KeptSpan[] } {
  const spans: KeptSpan[] = []
  const names = new Map<Span, string>()
  const tracer: Tracer = {
    startSpan(name, options = {}, context) {
      const parent = context && trace.getSpan(context)
      const kept: KeptSpan = {
        name,
        kind: options.kind,
        parent: parent && names.get(parent),
        attributes: { ...options.attributes },
        events: [],
        status: undefined,
        ended: 0,
      }
      spans.push(kept)
      const span = getSpan(kept)
      names.set(span, name)
      return span
    },
    startActiveSpan() {
      throw new Error('Nothing here starts active spans.')
    },
  }
  return { tracer, spans }
}

function getSpan(kept: KeptSpan): Span {
  const span: Span = {
    spanContext: () => INVALID_SPAN_CONTEXT,
    setAttribute: (key, value) => {
      kept.attributes[key] = value
      return span
    },
    setAttributes: (attributes) => {
      Object.assign(kept.attributes, attributes)
      return span
    },
    addEvent: (name, attributes) => {
      kept.events.push({ name, attributes })
      return span
    },
    addLink: () => span,
    addLinks: () => span,
    setStatus: (status) => {
      kept.status = status
      return span
    },
    updateName: () => span,
    end: () => void (kept.ended += 1),
    isRecording: () => kept.ended === 0,
    recordException: () => undefined,
  }
  return span
}

export interface KeptMeasure {
  readonly name: string
  readonly unit: string | undefined
  readonly value: number
  readonly attributes: Attributes
}

/** A meter that records its measurements. */
export function keepingMeter(): { readonly meter: Meter; readonly measures: readonly KeptMeasure[] } {
  const measures: KeptMeasure[] = []
  const keep =
    (name: string, options?: MetricOptions) =>
    (value: number, attributes: Attributes = {}): void =>
      void measures.push({ name, unit: options?.unit, value, attributes })
  const meter: Meter = Object.assign(Object.create(createNoopMeter()) as Meter, {
    createCounter: (name: string, options?: MetricOptions) => ({ add: keep(name, options) }),
    createHistogram: (name: string, options?: MetricOptions) => ({ record: keep(name, options) }),
  })
  return { meter, measures }
}
