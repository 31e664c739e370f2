export { openTelemetry, type OpenTelemetryOptions } from './opentelemetry.ts'
