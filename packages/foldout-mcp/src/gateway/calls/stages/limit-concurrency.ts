import { MAX_WAITING } from '../../upstreams/limits.ts'
import type { Stage } from '../call/call.ts'
import { createErrorResult } from '../../../shared/errors.ts'

/** Runs only so many calls of a tool at a time. */
export const limitConcurrency: Stage = (call, next) => {
  const { turns } = call.tool.limits
  if (!turns) return next(call)
  const name = call.tool.definition.name
  if (turns.pendingCount >= MAX_WAITING)
    return Promise.resolve(
      createErrorResult(
        `Tool '${name}' was not run: ${MAX_WAITING} calls are already waiting for it. Try again later.`,
      ),
    )
  return turns(() => {
    call.context.signal?.throwIfAborted()
    return next(call)
  })
}
