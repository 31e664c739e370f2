import type { CallResult } from 'foldout/catalog'
import { countBytes, type Call, type Next, type Stage } from '../call/call.ts'
import { createErrorResult } from '../../../shared/errors.ts'

/** Refuses a result that is larger than the configuration allows. */
export const limitSize: Stage = (call, next) => {
  if (call.tool.limits.maxResultBytes === Infinity) return next(call)
  return measure(call, next)
}

async function measure(call: Call, next: Next): Promise<CallResult> {
  const { definition, limits } = call.tool
  const result = await next(call)
  const bytes = countBytes(result)
  if (bytes <= limits.maxResultBytes) return result
  return createErrorResult(
    `The tool '${definition.name}' has run, but its result has ${bytes} bytes, and the configuration allows ${limits.maxResultBytes}. Ask for less at a time, such as one part, one page or a filtered result.`,
  )
}
