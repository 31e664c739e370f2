import type { BoundPrompt } from '../../prompt/prompt.ts'
import type { AnySlice } from '../../session/slice.ts'
import type { SessionStore } from '../../session/stores/store.ts'
import type { AgentOptions } from '../options.ts'
/**
 * Identifies a run: a kind that every machine has defined, and an id.
 *
 * @example
 * ```ts
 * const address: RunAddress = { kind: 'refunds', id: 'order-17' }
 * ```
 */
export interface RunAddress {
  readonly kind: string
  readonly id: string
}

/**
 * Something that a run waits for.
 *
 * @example
 * ```ts
 * const signal: RunSignal = { topic: 'approval', key: 'call-1', value: { approved: true } }
 * ```
 */
export interface RunSignal {
  readonly topic: string
  /** A run receives only the first of several signals with the same key. */
  readonly key: string
  /** The value of the signal, as plain JSON. */
  readonly value: unknown
}

/**
 * Options for when a run begins.
 *
 * @example
 * ```ts
 * const options: RunStartOptions = { priority: 1, delaySeconds: 3600 }
 * ```
 */
export interface RunStartOptions {
  /** Lower numbers go first, if the engine has queues. Default 0. */
  readonly priority?: number
  /** How long to wait before the run begins. Default 0. */
  readonly delaySeconds?: number
}

/**
 * How a piece of a run's work has ended: it waits for a signal, or it is done.
 *
 * @example
 * ```ts
 * const end: RunEnd = { status: 'done', outcome: 'completed' }
 * ```
 */
export type RunEnd =
  | { readonly status: 'waiting'; readonly topic: string }
  | { readonly status: 'done'; readonly outcome: string }

/**
 * What an engine passes to the work of a run each time the run is started or woken.
 *
 * @example
 * ```ts
 * const work: RunWork = async (flow) => {
 *   const isReady = await flow.step('look', async () => flow.wokenBy !== undefined)
 *   return isReady ? { status: 'done', outcome: 'completed' } : flow.wait('approval')
 * }
 * ```
 */
export interface RunFlow {
  readonly id: string
  /** The machine that works on the run. */
  readonly machine: string
  /** The signal that has woken the run; undefined when it was started or resumed. */
  readonly wokenBy: RunSignal | undefined
  /**
   * Does something once. If the machine dies before it has ended, another one does it again. The signal aborts when the run is
   * cancelled.
   */
  step<Value>(name: string, work: (signal: AbortSignal) => Promise<Value>): Promise<Value>
  /** Ends this piece of work: the run occupies no process until a signal of this topic arrives. Return its result. */
  wait(topic: string): RunEnd
}

/**
 * The work of a run when it is started or woken, on any machine. It may be called again for work that is already done,
 * so it reads the session's journal first.
 *
 * @example
 * ```ts
 * const work: RunWork = async (flow) => flow.wait('approval')
 * ```
 */
export type RunWork = (flow: RunFlow) => Promise<RunEnd>

/**
 * The status of a run, as its engine knows it.
 *
 * @example
 * ```ts
 * const isOver = ({ status }: RunStatus): boolean => status === 'done' || status === 'failed' || status === 'cancelled'
 * ```
 */
export interface RunStatus {
  readonly id: string
  readonly status: 'active' | 'waiting' | 'done' | 'failed' | 'cancelled'
  /** The outcome that the work returned with `'done'`. */
  readonly outcome?: string
  /** Why it failed. */
  readonly error?: string
  /** The machine that works on it, or did last. */
  readonly machine?: string
}

/**
 * Decides who works on which run, and when. The work of one run is done one piece at a time, in the order of its start
 * and signals, by one machine after another if they die. Implementations pass `engineSuite`.
 *
 * @example
 * ```ts
 * const engine: RunEngine = createLocalEngine()
 * engine.define('greet', async () => ({ status: 'done', outcome: 'completed' }))
 * await engine.start({ kind: 'greet', id: 'one' })
 * ```
 */
export interface RunEngine {
  readonly name: string
  /**
   * Whether the engine itself makes sure, across all machines, that one machine at a time works on a run. Then a machine
   * takes a run from the one before it without waiting. Otherwise, a run is taken over only when the lease of its
   * session has lapsed. Default false.
   */
  readonly isExclusive?: boolean
  /** Defines the work of a kind of run. Every machine defines all kinds before it serves. */
  define(kind: string, work: RunWork): void
  /** Starts a run. A run that was already started is left unchanged. */
  start(run: RunAddress, options?: RunStartOptions): Promise<void>
  /** Wakes a run, from any machine. Returns false if it already had a signal with this key. */
  signal(run: RunAddress, signal: RunSignal): Promise<boolean>
  /** Ends a run: work in progress is aborted, and later signals do nothing. */
  cancel(run: RunAddress): Promise<void>
  getStatus(run: RunAddress): Promise<RunStatus | undefined>
  /** Lists runs of a kind, newest first. */
  list(kind: string, page?: RunPage): Promise<readonly RunStatus[]>
}

/**
 * The page of runs to list.
 *
 * @example
 * ```ts
 * const second: RunPage = { offset: 100, limit: 100 }
 * ```
 */
export interface RunPage {
  readonly offset?: number
  /** The maximum number of runs. Default 100. */
  readonly limit?: number
}

export const DEFAULT_PAGE = 100

/**
 * Returns a text that identifies a run among all kinds: the id of its session in the store. Engines of your own need it,
 * too.
 *
 * @example
 * ```ts
 * getRunKey({ kind: 'refunds', id: 'order-17' }) // => 'refunds/order-17'
 * ```
 */
export function getRunKey({ kind, id }: RunAddress): string {
  return `${encodeURIComponent(kind)}/${encodeURIComponent(id)}`
}

/**
 * Options of {@link defineRun}: the `runAgent` options for all runs of this kind, the engine that decides who works on
 * them, and the store of their journals.
 *
 * @example
 * ```ts
 * const options: DurableRunOptions = { name: 'support', engine, store, prompt: prompt.bind(values), adapter }
 * ```
 */
export interface DurableRunOptions<Output = unknown> extends Omit<
  AgentOptions,
  'session' | 'state' | 'input' | 'approvals' | 'signal' | 'deadline'
> {
  /** The kind. All machines use the same name for the same prompt. */
  readonly name: string
  readonly engine: RunEngine
  readonly store: SessionStore
  /** The prompt, or a function that binds it for a run. */
  readonly prompt: DurablePrompt<Output> | ((id: string) => DurablePrompt<Output> | Promise<DurablePrompt<Output>>)
  /** The slices of the sessions, in addition to those that every session has. */
  readonly slices?: readonly AnySlice[]
}

/**
 * A bound prompt, whatever values it takes.
 *
 * @example
 * ```ts
 * const bound: DurablePrompt = prompt.bind(values)
 * ```
 */
export type DurablePrompt<Output = unknown> = Pick<BoundPrompt<unknown, string, Output>, 'render'>
