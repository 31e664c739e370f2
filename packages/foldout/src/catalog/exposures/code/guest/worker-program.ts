import type { SandboxLimits } from '../contract/limits.ts'
import { LOG_LEVELS, type FromWorker, type LogLevel, type Outcome, type ProgramError } from '../contract/messages.ts'
import type { Machine, MachineHost } from './machine.ts'
import { toBrokenOutcome, toErrorOutcome, toStuckOutcome, toThrownOutcome, toValueOutcome } from './outcomes.ts'
import { createProgramCalls, type FunctionNames } from './program-calls.ts'

/** One program in its machine, inside the worker. */
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

/** An action of a program, as posted by the prelude: strings and numbers that cannot be trusted. */
type Posted = readonly (string | number | undefined)[]

export function createWorkerProgram(options: WorkerProgramOptions): WorkerProgram {
  const { machine, id, names, limits, send, onEnd } = options
  const calls = createProgramCalls({ program: id, names, limits, send })
  const timers = createProgramTimers(limits.timeMs, (timer) => enter(() => machine.fire(timer)))
  const logs = createProgramLogs(limits.outputCharacters, (level, text) =>
    send({ type: 'log', program: id, level, text }),
  )
  const watch = createWatch(options)
  let outcome: Outcome | undefined
  let hasEnded = false

  const host: MachineHost = {
    post: (values) => {
      if (watch.interruption) return undefined
      return handle(values)
    },
    has: (name) => names.all.has(name),
    list: (server) => names.servers.get(server) ?? [],
    shouldStop: () => watch.check(),
  }

  function handle([kind, ...values]: Posted): string | undefined {
    const [first, second, third] = values
    if (kind === 'call') return calls.start(first, second, third)
    if (kind === 'timer') return timers.start(first, second)
    if (kind === 'clear') timers.clear(first)
    if (kind === 'log') logs.add(first, second, third)
    if (kind === 'value') outcome ??= toValueOutcome(first, second, limits.outputCharacters)
    if (kind === 'thrown') outcome ??= toThrownOutcome(values, machine)
    return undefined
  }

  /** Lets the machine compute, and finishes the program if it has ended. */
  function enter(work: () => ProgramError | void): void {
    if (hasEnded) return
    watch.start()
    try {
      const error = work()
      if (error) outcome = toErrorOutcome(error)
    } catch (error) {
      // Its earlier actions do not count, because its machine cannot be trusted.
      outcome = toBrokenOutcome(error)
    }
    watch.stop()
    const ending = watch.interruption ?? outcome
    if (ending) end(ending)
    else if (calls.size === 0 && timers.size === 0) end(toStuckOutcome(machine))
  }

  function end(how: Outcome): void {
    hasEnded = true
    timers.clearAll()
    onEnd(how, logs.missing)
  }

  return {
    begin: (code) =>
      enter(() => {
        machine.start(host, [...names.servers.keys()], names.tools)
        return machine.evaluate(code)
      }),
    reply(call, isOk, text) {
      if (calls.end(call)) enter(() => machine.settle(call, isOk, text))
    },
    stop() {
      if (!hasEnded) end({ kind: 'stopped' })
    },
  }
}

interface Watch {
  /** Why the program has to stop. */
  readonly interruption: Outcome | undefined
  start(): void
  stop(): void
  /** Whether the program has to stop. Called repeatedly while it computes. */
  check(): boolean
}

function createWatch({ limits, isStopped }: WorkerProgramOptions): Watch {
  let interruption: Outcome | undefined
  let computeMsLeft = limits.cpuMs
  let startedAt = 0
  return {
    get interruption() {
      return interruption
    },
    start() {
      startedAt = performance.now()
    },
    stop() {
      computeMsLeft -= performance.now() - startedAt
    },
    check() {
      if (isStopped()) interruption ??= { kind: 'stopped' }
      else if (performance.now() - startedAt > computeMsLeft) interruption ??= { kind: 'limit', limit: 'time' }
      return interruption !== undefined
    },
  }
}

interface ProgramLogs {
  /** How many characters were not sent. */
  readonly missing: number
  add(level: unknown, text: unknown, length: unknown): void
}

function createProgramLogs(most: number, send: (level: LogLevel, text: string) => void): ProgramLogs {
  let charactersLeft = most
  let missing = 0
  return {
    get missing() {
      return missing
    },
    add(level, text, length) {
      if (typeof text !== 'string' || typeof length !== 'number' || !isLevel(level)) return
      const kept = text.slice(0, Math.max(0, charactersLeft - 1))
      // Empty lines count too.
      charactersLeft -= kept.length + 1
      missing += length - kept.length
      if (charactersLeft >= 0) send(level, kept)
    },
  }
}

function isLevel(level: unknown): level is LogLevel {
  return LOG_LEVELS.some((known) => known === level)
}

/** The pending timers of one program. */
interface ProgramTimers {
  readonly size: number
  /** Starts a timer. Returns the reason if it cannot be started. */
  start(id: unknown, delay: unknown): string | undefined
  clear(id: unknown): void
  clearAll(): void
}

const MOST_TIMERS = 1_000
/** A timer may last a little longer than the program, so the time limit ends the program first. */
const MARGIN_MS = 1_000

function createProgramTimers(timeMs: number, fire: (id: number) => void): ProgramTimers {
  const timers = new Map<number, NodeJS.Timeout>()
  return {
    get size() {
      return timers.size
    },
    start(id, delay) {
      if (typeof id !== 'number' || typeof delay !== 'number' || timers.has(id)) return 'There is no such timer.'
      if (timers.size >= MOST_TIMERS) return `At most ${MOST_TIMERS} timers can be pending.`
      // A timer with an excessive delay would fire at once.
      const milliseconds = Math.min(Math.max(0, delay), timeMs + MARGIN_MS)
      const end = (): void => {
        timers.delete(id)
        fire(id)
      }
      timers.set(id, setTimeout(end, milliseconds))
      return undefined
    },
    clear(id) {
      if (typeof id !== 'number') return
      clearTimeout(timers.get(id))
      timers.delete(id)
    },
    clearAll() {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
