import { getErrorMessage } from '../../../../core/errors.ts'
import { problemOfJson } from './guest-json.ts'
import { tooManyCalls, type SandboxLimits } from '../limits.ts'
import type { Machine, MachineHost } from './machine.ts'
import { LOG_LEVELS, type FromWorker, type LogLevel, type Outcome, type ProgramError } from '../messages.ts'

/** How much of its memory a machine that ran out of it still holds at least when that is noticed. */
const FREED_SHARE = 0.25

/** The functions of a program by their servers. */
export interface FunctionNames {
  readonly all: ReadonlySet<string>
  readonly servers: ReadonlyMap<string, readonly string[]>
  /** Those without a server. */
  readonly tools: readonly string[]
}

/** One program in its machine, within the worker. */
export interface WorkerProgram {
  begin(code: string): void
  reply(call: number, isOk: boolean, text: string): void
  stop(): void
}

export interface WorkerProgramOptions {
  readonly machine: Machine
  readonly id: number
  readonly names: FunctionNames
  readonly limits: SandboxLimits
  readonly isStopped: () => boolean
  readonly send: (message: FromWorker) => void
  readonly onEnd: (outcome: Outcome, missingLogs: number) => void
}

const MOST_TIMERS = 1_000

const STUCK: ProgramError = {
  name: 'Error',
  message: 'The program waits for a promise that nothing will settle: no call and no timer is pending.',
}

export function workerProgram({
  machine,
  id,
  names,
  limits,
  isStopped,
  send,
  onEnd,
}: WorkerProgramOptions): WorkerProgram {
  const calls = new Set<number>()
  const timers = new Map<number, NodeJS.Timeout>()
  let outcome: Outcome | undefined
  let interruption: Outcome | undefined
  let hasEnded = false
  let computeMsLeft = limits.cpuMs
  let enteredAt = 0
  let charactersLeft = limits.outputCharacters
  let missingLogs = 0
  let callsMade = 0

  const host: MachineHost = {
    post: (values) => (interruption ? undefined : handle(values)),
    has: (name) => names.all.has(name),
    list: (server) => names.servers.get(server) ?? [],
    shouldStop() {
      if (isStopped()) interruption ??= { kind: 'stopped' }
      else if (performance.now() - enteredAt > computeMsLeft) interruption ??= { kind: 'limit', limit: 'time' }
      return interruption !== undefined
    },
  }

  function handle([kind, ...values]: readonly (string | number | undefined)[]): string | undefined {
    const [first, second, third] = values
    if (kind === 'log') return log(first, second, third)
    if (kind === 'call') return call(first, second, third)
    if (kind === 'timer') return startTimer(first, second)
    if (kind === 'clear') return clearTimer(first)
    if (outcome !== undefined) return undefined
    if (kind === 'value') outcome = valueOutcome(first, second)
    if (kind === 'thrown') outcome = thrownOutcome(String(first), String(second), String(third))
    return undefined
  }

  function log(level: unknown, text: unknown, length: unknown): undefined {
    if (typeof text !== 'string' || typeof length !== 'number' || !isLevel(level)) return
    const kept = text.slice(0, Math.max(0, charactersLeft - 1))
    // Empty lines count too.
    charactersLeft -= kept.length + 1
    missingLogs += length - kept.length
    if (charactersLeft >= 0) send({ type: 'log', program: id, level, text: kept })
  }

  function call(callId: unknown, name: unknown, args: unknown): string | undefined {
    if (typeof callId !== 'number' || typeof name !== 'string' || typeof args !== 'string' || !names.all.has(name)) {
      return 'There is no such function.'
    }
    const problem = jsonProblem(args)
    if (problem !== undefined) return `The arguments of ${name}() are not passed on: ${problem}.`
    // The host counts too, and must hear of the first that is too many; more would only flood it.
    if (++callsMade > limits.calls + 1) return tooManyCalls(name, limits)
    calls.add(callId)
    send({ type: 'call', program: id, call: callId, name, args })
    return undefined
  }

  function startTimer(timer: unknown, delay: unknown): string | undefined {
    if (typeof timer !== 'number' || typeof delay !== 'number' || timers.has(timer)) return 'There is no such timer.'
    if (timers.size >= MOST_TIMERS) return `At most ${MOST_TIMERS} timers can be pending.`
    // None lasts longer than the program may, and a delay too long for a timer would fire at once.
    const milliseconds = Math.min(Math.max(0, delay), limits.timeMs + 1_000)
    const fire = (): void => {
      timers.delete(timer)
      enter(() => machine.fire(timer))
    }
    timers.set(timer, setTimeout(fire, milliseconds))
    return undefined
  }

  function clearTimer(timer: unknown): undefined {
    if (typeof timer !== 'number') return
    clearTimeout(timers.get(timer))
    timers.delete(timer)
  }

  function valueOutcome(text: unknown, length: unknown): Outcome {
    if (typeof text !== 'string' || typeof length !== 'number') return { kind: 'value', text: undefined, length: 0 }
    const problem = text.length < length ? undefined : jsonProblem(text)
    if (problem === undefined) return { kind: 'value', text, length }
    return { kind: 'error', error: { name: 'TypeError', message: `The value cannot be returned: ${problem}.` } }
  }

  function thrownOutcome(name: string, message: string, stack: string): Outcome {
    // Without room for an error the engine throws null, and until that arrives some memory has been freed again.
    const isNull = message === 'null' && machine.isOutOfMemory(FREED_SHARE)
    const isOutOfMemory = isNull || (name === 'InternalError' && message === 'out of memory')
    if (isOutOfMemory) return { kind: 'limit', limit: 'memory' }
    return { kind: 'error', error: { name, message, ...machine.placeIn(stack) } }
  }

  /** Lets the machine compute, and ends the program if that was its end. */
  function enter(work: () => ProgramError | void): void {
    if (hasEnded) return
    enteredAt = performance.now()
    try {
      const error = work()
      if (error) outcome = { kind: 'error', error }
    } catch (error) {
      // What it did before it broke does not count: its machine is in no state to be believed.
      outcome = brokenOutcome(error)
    }
    computeMsLeft -= performance.now() - enteredAt
    if (interruption) return end(interruption)
    if (outcome) return end(outcome)
    if (calls.size === 0 && timers.size === 0) {
      end(machine.isOutOfMemory() ? { kind: 'limit', limit: 'memory' } : { kind: 'error', error: STUCK })
    }
  }

  function brokenOutcome(error: unknown): Outcome {
    const message = getErrorMessage(error)
    if (/out of memory|wasm_malloc failed/.test(message)) return { kind: 'limit', limit: 'memory' }
    if (/call stack/.test(message)) return { kind: 'error', error: { name: 'RangeError', message } }
    return { kind: 'error', error: { name: 'Error', message: `The engine gave up: ${message}` } }
  }

  function end(how: Outcome): void {
    hasEnded = true
    for (const timer of timers.values()) clearTimeout(timer)
    timers.clear()
    onEnd(how, missingLogs)
  }

  return {
    begin: (code) =>
      enter(() => {
        machine.start(host, [...names.servers.keys()], names.tools)
        return machine.evaluate(code)
      }),
    reply(call, isOk, text) {
      if (calls.delete(call)) enter(() => machine.settle(call, isOk, text))
    },
    stop() {
      if (!hasEnded) end({ kind: 'stopped' })
    },
  }
}

function isLevel(level: unknown): level is LogLevel {
  return LOG_LEVELS.some((known) => known === level)
}

function jsonProblem(text: string): string | undefined {
  try {
    return problemOfJson(text)
  } catch {
    return 'it is no JSON'
  }
}
