import type { CallResult } from 'foldout/catalog'
import { toClient, type OnTraffic } from '../../traffic/traffic.ts'
import type { NextRequest, Request, RequestStage } from './request.ts'

/** Reports what the client got, after everything that happened in its request. */
export const reportRequest: RequestStage = (request, next) => {
  const { onTraffic } = request.scope
  if (!onTraffic) return next(request)
  return report(onTraffic, request, next)
}

async function report(onTraffic: OnTraffic, request: Request, next: NextRequest): Promise<CallResult> {
  const { scope, number, reader, name, context } = request
  const start = performance.now()
  let result: CallResult | undefined
  try {
    result = await next(request)
    return result
  } finally {
    onTraffic({
      type: 'answer',
      preset: scope.preset,
      request: number,
      ...toClient(context.client, reader),
      tool: name,
      arguments: request.arguments,
      result,
      isError: result === undefined || result.isError === true,
      durationMs: Math.round(performance.now() - start),
    })
  }
}
