import type { CallResult } from 'foldout/catalog'
import type { OnTraffic } from '../../traffic/traffic.ts'
import type { Call, Next, Stage } from '../call/call.ts'

/** Reports what the server answered, with the arguments as the client wrote them. */
export const reportAnswer: Stage = (call, next) => {
  const { onTraffic } = call.scope
  if (!onTraffic) return next(call)
  return report(onTraffic, call, next)
}

async function report(onTraffic: OnTraffic, call: Call, next: Next): Promise<CallResult> {
  let result: CallResult | undefined
  try {
    result = await next(call)
    return result
  } finally {
    onTraffic({
      type: 'call',
      preset: call.preset,
      tool: call.path,
      isReadOnly: call.annotations?.readOnlyHint === true,
      arguments: call.given,
      result,
      isError: result === undefined || result.isError === true,
      request: call.context.request,
    })
  }
}
