import { describeError } from '../../../../tools/thrown.ts'
import type { Json } from '../../../../core/json/json.ts'
import { describeTooManyCalls, type SandboxLimits } from '../contract/limits.ts'
import type { CallMessage } from '../contract/messages.ts'
import type { SandboxCall, SandboxFunctions } from './sandbox-run.ts'

/** The calls of one program. */
export interface Calls {
  readonly isOverLimit: boolean
  receive(message: CallMessage): void
  /** Aborts the calls that are still running, and sends no more replies. Returns all calls. */
  close(): readonly SandboxCall[]
}

export interface CallsOptions {
  readonly functions: SandboxFunctions
  readonly limits: SandboxLimits
  /** Stops the clock of the program. Returns a function that starts it again. */
  readonly pause: () => () => void
  readonly reply: (call: number, ok: boolean, text: string) => void
}

interface OpenCall {
  readonly name: string
  readonly startedAt: number
  readonly controller: AbortController
  outcome: { readonly ok: boolean; readonly durationMs: number } | undefined
}

const MOST_MESSAGE_CHARACTERS = 4_000
/** A result must fit into the machine's memory several times: as text, as values, and together with other results. */
const RESULT_SHARE = 1 / 8

/** Describes a failed call to a program. Any value can be thrown, even an object that cannot be shown. */
function describeFailure(name: string, thrown: unknown): string {
  try {
    return describeError(thrown).slice(0, MOST_MESSAGE_CHARACTERS)
  } catch {
    return `${name}() failed with an error that cannot be shown.`
  }
}

export function createCalls({ functions, limits, pause, reply }: CallsOptions): Calls {
  const calls: OpenCall[] = []
  const waiting: (() => void)[] = []
  const mostResultCharacters = limits.memoryMb * 2 ** 20 * RESULT_SHARE
  let running = 0
  let isOverLimit = false
  let isClosed = false

  async function run(call: OpenCall, id: number, args: Json): Promise<void> {
    running++
    let ok = true
    let text: string
    try {
      const value = await functions.get(call.name)?.(args, call.controller.signal, pause)
      text = JSON.stringify(value) ?? ''
      if (text.length > mostResultCharacters) {
        throw new RangeError(
          `The result of ${call.name}() is ${text.length} characters long as JSON, which is more than a program can receive. Ask for less.`,
        )
      }
    } catch (error) {
      ok = false
      text = describeFailure(call.name, error)
    }
    running--
    if (isClosed) return
    call.outcome = { ok, durationMs: performance.now() - call.startedAt }
    reply(id, ok, text)
    waiting.shift()?.()
  }

  return {
    get isOverLimit() {
      return isOverLimit
    },
    receive({ call: id, name, args }) {
      if (!functions.has(name)) return reply(id, false, `There is no function ${name}().`)
      if (calls.length >= limits.calls) {
        isOverLimit = true
        return reply(id, false, describeTooManyCalls(name, limits))
      }
      const call: OpenCall = {
        name,
        startedAt: performance.now(),
        controller: new AbortController(),
        outcome: undefined,
      }
      calls.push(call)
      if (running < limits.concurrentCalls) void run(call, id, args)
      else waiting.push(() => void run(call, id, args))
    },
    close() {
      isClosed = true
      const now = performance.now()
      return calls.map(({ name, startedAt, controller, outcome }) => {
        if (outcome) return { name, ...outcome }
        controller.abort()
        return { name, ok: false, durationMs: now - startedAt, cancelled: true }
      })
    },
  }
}
