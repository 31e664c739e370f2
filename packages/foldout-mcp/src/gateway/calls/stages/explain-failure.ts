import { UpstreamError } from '../../upstreams/failures/failures.ts'
import type { Stage } from '../call/call.ts'
import { createErrorResult } from '../../../shared/errors.ts'

/** Says in words that a model understands why a server did not run a call, and hides secrets in what a server says of its failures. */
export const explainFailure: Stage = async (call, next) => {
  const { secrets } = call.scope.policy
  try {
    const result = await next(call)
    if (result.isError === true) return secrets.hideIn(result)
    return result
  } catch (error) {
    call.context.signal?.throwIfAborted()
    if (!(error instanceof UpstreamError)) throw error
    return createErrorResult(`Tool '${call.tool.definition.name}' was not run: ${secrets.hide(error.message)}`)
  }
}
