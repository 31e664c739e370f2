import { READ_RESULT } from '../../results/listing.ts'
import type { RequestStage } from './request.ts'

/** Answers the tool that reads folded results. */
export const readResult: RequestStage = (request, next) => {
  const { results } = request.scope
  if (request.name !== READ_RESULT || !results.isFolding) return next(request)
  return results.read(request.arguments, request.context)
}
