import type { CallContext, CallResult } from 'foldout/catalog'
import type { Stage } from '../call/call.ts'
import { createErrorResult } from '../../../shared/errors.ts'

/** Gives up a call that takes longer than the configuration allows. */
export const limitTime: Stage = (call, next) => {
  const { definition, limits } = call.tool
  if (limits.timeoutMs === undefined) return next(call)
  return callWithin(limits.timeoutMs, definition.name, call.context, (context) => next({ ...call, context }))
}

/** Why a call was given up that took longer than its limit. */
export class CallTimeout extends Error {
  override readonly name = 'CallTimeout'
}

/** Runs a tool for a limited time. Progress restarts the timer, as it does for the server's own timeout. */
export async function callWithin(
  timeoutMs: number,
  tool: string,
  context: CallContext,
  call: (context: CallContext) => Promise<CallResult>,
): Promise<CallResult> {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(new CallTimeout('The time is up.')), timeoutMs)
  const inner: CallContext = {
    ...context,
    signal: context.signal ? AbortSignal.any([context.signal, stop.signal]) : stop.signal,
    onProgress(progress) {
      timer.refresh()
      context.onProgress?.(progress)
    },
  }
  try {
    return await call(inner)
  } catch (error) {
    context.signal?.throwIfAborted()
    if (!stop.signal.aborted) throw error
    return createErrorResult(
      `The tool '${tool}' did not answer within its limit of ${timeoutMs / 1_000} seconds. It is not known whether it has run.`,
    )
  } finally {
    clearTimeout(timer)
  }
}
