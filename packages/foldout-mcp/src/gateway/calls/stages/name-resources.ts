import type { Stage } from '../call/call.ts'

/** Gives the resources that a result names the URIs that clients use. */
export const nameResources: Stage = async (call, next) => call.scope.nameResources(call.server, await next(call))
