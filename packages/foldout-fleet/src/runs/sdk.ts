/**
 * The part of DBOS that the engine needs: the class `DBOS` of the package `@dbos-inc/dbos-sdk`, which your program has
 * configured and launched.
 *
 * @example
 * ```ts
 * const sdk: DbosSdk = DBOS
 * ```
 */
export interface DbosSdk {
  readonly executorID: string
  readonly applicationVersion: string
  /** Provides the signal of the current step. */
  readonly stepStatus: { readonly cancelSignal: AbortSignal } | undefined
  isInitialized(): boolean
  launch(): Promise<void>
  registerWorkflow(work: (...args: never[]) => Promise<unknown>, options: { readonly name: string }): unknown
  registerQueue(name: string, options: DbosQueueLimits & { partitionConcurrency?: number }): Promise<unknown>
  enqueueWorkflowWithOptions(options: DbosEnqueueOptions, ...args: unknown[]): Promise<unknown>
  runStep<Value>(work: () => Promise<Value>, options: { name: string }): Promise<Value>
  listWorkflows(filter: DbosFilter): Promise<readonly DbosWorkflow[]>
  cancelWorkflows(ids: string[]): Promise<void>
  resumeWorkflows(ids: string[], options: { queueName: string }): Promise<unknown>
}

/**
 * Limits of the queue that durable runs wait in, as DBOS has them.
 *
 * @example
 * ```ts
 * const limits: DbosQueueLimits = { workerConcurrency: 50, minPollingIntervalMs: 250 }
 * ```
 */
export interface DbosQueueLimits {
  /** How many runs all machines together work on at a time. */
  readonly globalConcurrency?: number
  /** How many runs one machine works on at a time. */
  readonly workerConcurrency?: number
  /** How many runs may begin in a period. */
  readonly rateLimit?: { readonly limitPerPeriod: number; readonly periodSec: number }
  /** How often a machine looks for runs. Default 100. */
  readonly minPollingIntervalMs?: number
}

/**
 * Options for a workflow that the engine enqueues.
 *
 * @example
 * ```ts
 * const options: DbosEnqueueOptions = { queueName: 'foldout', workflowName: 'foldout.run', workflowID: 'refunds/17/start' }
 * ```
 */
export interface DbosEnqueueOptions {
  readonly queueName: string
  readonly workflowName: string
  readonly workflowID: string
  readonly workflowIDReusePolicy?: 'return-existing' | 'reject'
  readonly queuePartitionKey?: string
  readonly attributes?: Record<string, unknown>
  readonly priority?: number
  readonly delaySeconds?: number
  readonly applicationName?: string
}

/**
 * A filter for workflows.
 *
 * @example
 * ```ts
 * const filter: DbosFilter = { status: 'PENDING', executorId: 'machine-1' }
 * ```
 */
export interface DbosFilter {
  readonly workflowName?: string
  readonly attributes?: Record<string, unknown>
  readonly status?: 'PENDING'
  readonly executorId?: string
  readonly sortDesc?: boolean
  readonly limit?: number
  readonly offset?: number
  readonly loadInput?: boolean
  readonly loadOutput?: boolean
}

/**
 * A workflow as DBOS lists it.
 *
 * @example
 * ```ts
 * const isOver = ({ status }: DbosWorkflow): boolean => status === 'SUCCESS' || status === 'ERROR'
 * ```
 */
export interface DbosWorkflow {
  readonly workflowID: string
  readonly status: string
  readonly input?: unknown[]
  readonly output?: unknown
  readonly error?: unknown
  readonly applicationVersion?: string
  readonly applicationName?: string
  readonly executorId?: string
  readonly queueName?: string
  readonly createdAt: number
  readonly completedAt?: number
  readonly attributes?: Record<string, unknown>
}
