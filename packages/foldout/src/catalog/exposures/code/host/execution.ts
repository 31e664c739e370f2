import type { FoldoutError } from '../../../../core/errors.ts'
import { createCalls } from './calls.ts'
import type { SandboxLimits } from '../contract/limits.ts'
import type { Outcome, ProgramError } from '../contract/messages.ts'
import { ProgramClock } from './program-clock.ts'
import type { LimitName, SandboxFunctions, SandboxLog, SandboxRun } from './sandbox-run.ts'
import type { SandboxWorker } from './sandbox-worker.ts'
import type { Json } from '../../../../core/json/json.ts'

export interface ExecutionOptions {
  readonly worker: SandboxWorker
  /** Unique among the programs of the worker. */
  readonly id: number
  readonly source: string
  /** The names of the functions, one per line. */
  readonly names: string
  readonly functions: SandboxFunctions
  readonly limits: SandboxLimits
  readonly signal: AbortSignal | undefined
  /** See {@link ProgramClockOptions}. */
  readonly makeRoom: () => (() => void) | undefined
  /** Called when the worker is finished with the program, or has ended. */
  readonly onFree: () => void
}

/** How long a program may take to stop before its thread is ended. */
const GRACE_MS = 100

/** How a program ended, as the host sees it. */
type Ending = Outcome | { readonly kind: 'out-of-time' } | { readonly kind: 'crashed'; readonly error: FoldoutError }

/** Runs a program in a worker that is ready. */
export function execute(options: ExecutionOptions): Promise<SandboxRun> {
  const { worker, id, source, names, functions, limits, signal, makeRoom, onFree } = options
  return new Promise((resolve) => {
    const startedAt = performance.now()
    const logs: SandboxLog[] = []
    const calls = createCalls({
      functions,
      limits,
      pause: () => {
        if (isOver) return () => {}
        return clock.pause()
      },
      reply: (call, ok, text) => worker.post({ type: 'reply', program: id, call, ok, text }),
    })
    let isOver = false
    let patience: NodeJS.Timeout | undefined

    const finish = (ending: Ending, missingLogs = 0): void => {
      if (isOver) return
      isOver = true
      clock.clear()
      signal?.removeEventListener('abort', onAbort)
      const value = ending.kind === 'value' && ending.length > 0 ? ending : undefined
      const output = fitOutput({ logs, missingLogs, value }, limits.outputCharacters)
      const { error, limit } = toFailure(ending, limits)
      const reached = limit ?? getSurvivedLimit(calls.isOverLimit, output.missingCharacters)
      resolve({
        ok: error === undefined,
        ...output,
        ...(error && { error }),
        calls: calls.close(),
        ...(reached && { limit: reached }),
        durationMs: performance.now() - startedAt,
      })
    }
    const free = (): void => {
      clearTimeout(patience)
      worker.listen(undefined)
      onFree()
    }
    const stop = (ending: Ending): void => {
      worker.interrupt(id)
      worker.post({ type: 'stop', program: id })
      patience = setTimeout(() => worker.terminate(), GRACE_MS)
      finish(ending)
    }
    const onAbort = (): void => stop({ kind: 'stopped' })
    const clock = new ProgramClock({
      timeMs: limits.timeMs,
      onEnd: () => stop({ kind: 'out-of-time' }),
      makeRoom,
    })

    signal?.addEventListener('abort', onAbort, { once: true })
    worker.listen({
      onMessage(message) {
        if (!('program' in message) || message.program !== id) return
        if (message.type === 'done') {
          finish(message.outcome, message.missingLogs)
          free()
        } else if (isOver) return
        else if (message.type === 'log') logs.push({ level: message.level, text: message.text })
        else calls.receive(message)
      },
      onGone(error) {
        finish({ kind: 'crashed', error })
        free()
      },
    })
    worker.post({ type: 'run', program: id, source, names: names === worker.knownNames ? undefined : names })
    worker.knownNames = names
  })
}

/** Gets the limit that a program reached without being stopped for it. */
function getSurvivedLimit(hasTooManyCalls: boolean, missingCharacters: number): LimitName | undefined {
  if (hasTooManyCalls) return 'calls'
  if (missingCharacters > 0) return 'output'
  return undefined
}

/** Creates the result of a program that was never started. */
export function createRefusedRun(error: ProgramError, limit?: LimitName): SandboxRun {
  return { ok: false, logs: [], missingCharacters: 0, error, calls: [], ...(limit && { limit }), durationMs: 0 }
}

export const CANCELLED: ProgramError = { name: 'AbortError', message: 'The program was cancelled.' }

export function createLimitError(message: string): ProgramError {
  return { name: 'LimitError', message }
}

function toFailure(
  ending: Ending,
  { timeMs, cpuMs, memoryMb }: SandboxLimits,
): { readonly error?: ProgramError; readonly limit?: LimitName } {
  if (ending.kind === 'value') return {}
  if (ending.kind === 'error') return { error: ending.error }
  if (ending.kind === 'stopped') return { error: CANCELLED }
  if (ending.kind === 'crashed') return { error: { name: 'Error', message: ending.error.message } }
  if (ending.kind === 'out-of-time') {
    return {
      error: createLimitError(`The program was stopped because it took longer than ${timeMs} ms.`),
      limit: 'time',
    }
  }
  if (ending.limit === 'time') {
    const error = createLimitError(`The program was stopped because it computed for longer than ${cpuMs} ms.`)
    return { error, limit: 'time' }
  }
  const error = createLimitError(`The program was stopped because it needed more than ${memoryMb} MB of memory.`)
  return { error, limit: 'memory' }
}

interface ReturnedValue {
  readonly value: Json | undefined
  readonly text: string
  readonly length: number
}

interface Output {
  readonly logs: readonly SandboxLog[]
  /** Characters of console output that the worker dropped. */
  readonly missingLogs: number
  /** The value, and its JSON or the beginning of it. */
  readonly value: ReturnedValue | undefined
}

/** Cuts console output and value to the limit. If both are too long, each gets half. */
function fitOutput(
  { logs, missingLogs, value }: Output,
  most: number,
): Pick<SandboxRun, 'logs' | 'value' | 'valueStart' | 'missingCharacters'> {
  const logged = logs.reduce((sum, { text }) => sum + text.length, 0)
  const room = Math.max(most - logged, Math.floor(most / 2))
  const kept = value && value.length > room ? value.text.slice(0, room) : value?.text
  const keptLogs = cutLogs(logs, most - (kept?.length ?? 0))
  const keptCharacters = keptLogs.reduce((sum, { text }) => sum + text.length, 0)
  const missingValue = (value?.length ?? 0) - (kept?.length ?? 0)
  return {
    logs: keptLogs,
    missingCharacters: missingLogs + (logged - keptCharacters) + missingValue,
    ...toKeptValue(value, kept, missingValue > 0),
  }
}

function toKeptValue(
  value: ReturnedValue | undefined,
  kept: string | undefined,
  isCut: boolean,
): Pick<SandboxRun, 'value' | 'valueStart'> {
  if (kept === undefined) return {}
  if (isCut) return { valueStart: kept }
  if (value?.value === undefined) return {}
  return { value: value.value }
}

function cutLogs(logs: readonly SandboxLog[], most: number): readonly SandboxLog[] {
  let left = most
  return logs.flatMap((log) => {
    if (left <= 0) return []
    const text = log.text.slice(0, left)
    left -= log.text.length
    return [{ ...log, text }]
  })
}
