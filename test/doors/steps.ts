import { Session } from 'node:inspector'

// Steps of JavaScript are counted by the coverage counters of V8: how often each block of code ran.

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[]
  }[]
}

/** The runtime and what runs the tests have work of their own to do meanwhile, and inputs are made in between. */
const NOT_COUNTED = /^node:|^$|\/node_modules\/(?:@?vitest|vite|vite-node|tsx|chai)\/|\/test\/doors\/shapes\.ts/

// At once: functions that run before this are counted by their calls alone. So this module must be imported before any door.
let session: Session | undefined = startCounting()

/** Lets code be optimized again. */
export function stopCounting(): void {
  if (!session) return
  post(session, 'Profiler.stopPreciseCoverage')
  session.disconnect()
  session = undefined
}

/** Returns the number of steps of this thread since the last call. From the first call to `stopCounting`, code is not optimized. */
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
