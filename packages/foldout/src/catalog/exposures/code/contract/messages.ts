import type { Json } from '../../../../core/json/json.ts'
import type { SandboxLimits } from './limits.ts'

export const LOG_LEVELS = ['log', 'info', 'warn', 'error', 'debug'] as const

/**
 * The level of a log message.
 *
 * @example
 * ```ts
 * const warnings = run.logs.filter(({ level }) => level === 'warn')
 * ```
 */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** The compiled WebAssembly module of the engine. Its type is not available in every compilation of this file. */
export type Engine = object

/** The data that a worker is started with. */
export interface WorkerSetup {
  readonly limits: SandboxLimits
  /** One shared number: the program that has to stop. A program that is computing receives no messages. */
  readonly stopped: Int32Array<SharedArrayBuffer>
  /** The engine, if another worker has already compiled it. */
  readonly engine: Engine | undefined
}

export type ToWorker = RunMessage | ReplyMessage | StopMessage

interface RunMessage {
  readonly type: 'run'
  readonly program: number
  readonly source: string
  /** The functions, one per line. Absent if they are the same as for the previous program. */
  readonly names: string | undefined
}

interface ReplyMessage {
  readonly type: 'reply'
  readonly program: number
  readonly call: number
  readonly ok: boolean
  /** The result as JSON, or the error message. */
  readonly text: string
}

interface StopMessage {
  readonly type: 'stop'
  readonly program: number
}

export type FromWorker = ReadyMessage | BrokenMessage | LogMessage | CallMessage | DoneMessage

interface ReadyMessage {
  readonly type: 'ready'
  readonly engine: Engine
}

/** The worker cannot run, for example because a package is missing. */
interface BrokenMessage {
  readonly type: 'broken'
  readonly code: string
  readonly message: string
}

interface LogMessage {
  readonly type: 'log'
  readonly program: number
  readonly level: LogLevel
  readonly text: string
}

export interface CallMessage {
  readonly type: 'call'
  readonly program: number
  readonly call: number
  readonly name: string
  /** The arguments, read from JSON and checked. */
  readonly args: Json
}

interface DoneMessage {
  readonly type: 'done'
  readonly program: number
  readonly outcome: Outcome
  /** Characters of console output that were not sent. */
  readonly missingLogs: number
}

/** How a program ended. */
export type Outcome =
  | {
      readonly kind: 'value'
      /** The returned value, read from JSON and checked; absent if the program returned nothing, or more than fits. */
      readonly value: Json | undefined
      /** The value as JSON, or the beginning of it; empty if the program returned nothing. */
      readonly text: string
      /** The length of the whole JSON. */
      readonly length: number
    }
  | { readonly kind: 'error'; readonly error: ProgramError }
  | { readonly kind: 'limit'; readonly limit: 'time' | 'memory' }
  | { readonly kind: 'stopped' }

/**
 * The error that ended a program, and where it happened.
 *
 * @example
 * ```ts
 * if (run.error) console.log(`${run.error.name} in line ${run.error.line}: ${run.error.message}`)
 * ```
 */
export interface ProgramError {
  readonly name: string
  readonly message: string
  /** Line of the source, from 1. */
  readonly line?: number
  /** Column in that line, from 1. */
  readonly column?: number
}
