export { createOpenTelemetryListener, type OpenTelemetryOptions } from '../telemetry/opentelemetry/opentelemetry.ts'
