export { openTelemetry, type OpenTelemetryOptions } from '../telemetry/opentelemetry/opentelemetry.ts'
