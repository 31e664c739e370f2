import { Session } from 'node:inspector'

// Steps of JavaScript are counted by the coverage counters of V8: how often each block of code ran.

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[]
  }[]
}

/** Files to ignore: the runtime and the test runner do work of their own, and inputs are created in between. */
const NOT_COUNTED = /^node:|^$|\/node_modules\/(?:@?vitest|vite|vite-node|tsx|chai)\/|\/test\/doors\/shapes\.ts/

// Started on import, because functions that run earlier are counted only by their calls. Import this module before any door.
let session: Session | undefined = startCounting()

/** Lets code be optimized again. */
export function stopCounting(): void {
  if (!session) return
  post(session, 'Profiler.stopPreciseCoverage')
  session.disconnect()
  session = undefined
}

/** Returns the number of steps in this thread since the last call. From the first call until `stopCounting`, code is not optimized. */
export function takeSteps(): number {
  session ??= startCounting()
  let steps = 0
  for (const { url, functions } of (post(session, 'Profiler.takePreciseCoverage') as Coverage).result) {
    if (NOT_COUNTED.test(url)) continue
    for (const { ranges } of functions) for (const { count } of ranges) steps += count
  }
  return steps
}

function startCounting(): Session {
  const started = new Session()
  started.connect()
  post(started, 'Profiler.enable')
  post(started, 'Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return started
}

function post(to: Session, method: string, params: object = {}): unknown {
  let answer: unknown
  to.post(method, params, (error, result) => {
    if (error) throw new Error(`${method} failed: ${error.message}`)
    answer = result
  })
  return answer
}
