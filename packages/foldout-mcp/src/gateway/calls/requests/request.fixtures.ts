import type { ViewResults } from '../../results/results.ts'
import type { RequestScope } from './request.ts'

/** The scope of requests to a gateway whose servers all run, without rules. */
export function createRequestScope(results: ViewResults, changes: Partial<RequestScope> = {}): RequestScope {
  return {
    preset: '',
    onTraffic: undefined,
    getAudit: () => undefined,
    findDenied: () => undefined,
    results,
    servers: {
      isStarting: () => false,
      listStarting: () => [],
      untilStarted: async () => undefined,
      listFailed: () => [],
      findHeld: () => undefined,
      listHeld: () => [],
    },
    toScoped: (client) => client,
    ...changes,
  }
}
