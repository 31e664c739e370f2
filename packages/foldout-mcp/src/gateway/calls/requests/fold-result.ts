import { findTarget, type RequestStage } from './request.ts'

/** Folds a large result. */
export const foldResult: RequestStage = async (request, next) => {
  const result = await next(request)
  const { results } = request.scope
  return results.fold(result, { tool: request.name, getEntry: () => findTarget(request)?.entry }, request.context)
}
