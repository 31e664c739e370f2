import { getMissingTool, type CallResult } from 'foldout/catalog'
import { isObject, type JsonObject } from 'foldout-shared/values'
import type { AuditLog } from '../../policy/audit/audit.ts'
import { describeClient, measureResult } from '../stages/audit.ts'
import { type NextRequest, type Request, type RequestStage } from './request.ts'

/** Logs calls of denied tools. A client does not have these tools, so its calls end before any tool can log them. */
export const logDenied: RequestStage = (request, next) => {
  const log = request.scope.getAudit()
  if (!log) return next(request)
  return logIfDenied(log, request, next)
}

async function logIfDenied(log: AuditLog, request: Request, next: NextRequest): Promise<CallResult> {
  const start = performance.now()
  const result = await next(request)
  const wanted = getMissingTool(result)
  if (!wanted) return result
  const { scope, context } = request
  const tool = scope.findDenied(wanted.name, context.client)
  if (tool === undefined) return result
  log.note({
    client: describeClient(context.client),
    preset: scope.preset,
    tool,
    arguments: readArguments(wanted.arguments),
    outcome: 'denied',
    durationMs: Math.round(performance.now() - start),
    bytes: measureResult(result),
  })
  return result
}

/** Models also write the arguments as a text of JSON. */
function readArguments(given: unknown): JsonObject {
  if (typeof given !== 'string') {
    if (isObject(given)) return given
    return {}
  }
  try {
    const parsed: unknown = JSON.parse(given)
    if (isObject(parsed)) return parsed
    return {}
  } catch {
    return {}
  }
}
