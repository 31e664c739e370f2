import pLimit from 'p-limit'
import type { CallContext, CallResult, RawTool } from 'foldout/catalog'
import { MAX_WAITING } from '../upstreams/limits.ts'

/** The limits of one tool, as configured. */
export interface CallLimits {
  readonly timeoutMs: number | undefined
  readonly maxConcurrent: number | undefined
  readonly maxResultBytes: number
}

/** Runs a tool. */
export type Call = NonNullable<RawTool['call']>

/** Why a call was given up that took longer than its limit. */
export class CallTimeout extends Error {
  override readonly name = 'CallTimeout'
}

/** Applies limits to a call. Without limits, returns the call itself. */
export function limitCall(tool: string, call: Call, limits: CallLimits): Call {
  const { timeoutMs, maxConcurrent, maxResultBytes } = limits
  const sized = maxResultBytes === Infinity ? call : limitSize(tool, call, maxResultBytes)
  const timed = timeoutMs === undefined ? sized : limitTime(tool, sized, timeoutMs)
  return maxConcurrent === undefined ? timed : limitConcurrency(tool, timed, maxConcurrent)
}

function limitSize(tool: string, call: Call, maxBytes: number): Call {
  return async (args, context) => {
    const result = await call(args, context)
    const bytes = countBytes(result)
    if (bytes <= maxBytes) return result
    return createError(
      `The tool '${tool}' has run, but its result has ${bytes} bytes, and the configuration allows ${maxBytes}. Ask for less at a time, such as one part, one page or a filtered result.`,
    )
  }
}

function countBytes(result: CallResult): number {
  try {
    return Buffer.byteLength(JSON.stringify(result))
  } catch {
    // It is nested too deeply to serialize, or longer than a string can be.
    return Infinity
  }
}

/** Progress restarts the timer, as it does for the server's own timeout. */
function limitTime(tool: string, call: Call, timeoutMs: number): Call {
  return async (args, context) => {
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
      return await call(args, inner)
    } catch (error) {
      context.signal?.throwIfAborted()
      if (!stop.signal.aborted) throw error
      return createError(
        `The tool '${tool}' did not answer within its limit of ${timeoutMs / 1_000} seconds. It is not known whether it has run.`,
      )
    } finally {
      clearTimeout(timer)
    }
  }
}

function limitConcurrency(tool: string, call: Call, maxConcurrent: number): Call {
  const limit = pLimit(maxConcurrent)
  return async (args, context) => {
    if (limit.pendingCount >= MAX_WAITING)
      return createError(
        `Tool '${tool}' was not run: ${MAX_WAITING} calls are already waiting for it. Try again later.`,
      )
    return limit(() => {
      context.signal?.throwIfAborted()
      return call(args, context)
    })
  }
}

function createError(text: string): CallResult {
  return { content: [{ type: 'text', text }], isError: true }
}
