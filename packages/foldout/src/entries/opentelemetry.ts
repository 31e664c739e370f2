/**
 * Spans and metrics of runs, with the GenAI names of OpenTelemetry.
 *
 * @module foldout/opentelemetry
 */

export { createOpenTelemetryListener, type OpenTelemetryOptions } from '../telemetry/opentelemetry/opentelemetry.ts'
