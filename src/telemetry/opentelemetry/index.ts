export { openTelemetry, type OpenTelemetryListener, type OpenTelemetryOptions } from './opentelemetry.ts'
