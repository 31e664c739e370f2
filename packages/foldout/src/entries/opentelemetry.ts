/**
 * Spans and metrics of runs, with the GenAI names of OpenTelemetry.
 *
 * @module foldout/opentelemetry
 */

export { createOpenTelemetryListener } from '../telemetry/opentelemetry/opentelemetry.ts'
export type { OpenTelemetryOptions } from '../telemetry/opentelemetry/spans.ts'
