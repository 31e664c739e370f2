import { getRunKey, toRunStatus, type RunAddress, type RunEnd, type RunSignal, type RunStatus } from 'foldout/durable'
import { getErrorMessage } from '../error-message.ts'
import type { DbosEnqueueOptions, DbosFilter, DbosWorkflow } from './sdk.ts'

/** The name of the workflow that does a piece of a run's work. */
export const WORKFLOW = 'foldout.run'

/** The part of DBOS, or of its client, that deliveries need. */
export interface DeliverySdk {
  enqueue(options: DbosEnqueueOptions, ...args: unknown[]): Promise<unknown>
  listWorkflows(filter: DbosFilter): Promise<readonly DbosWorkflow[]>
}

export interface Delivery {
  /** Distinguishes this delivery from all others of the run. */
  readonly name: string
  readonly wokenBy?: RunSignal
  readonly isFirst?: boolean
  readonly isCancel?: boolean
  readonly priority?: number
  readonly delaySeconds?: number
  readonly applicationName?: string
}

export interface Mailbox {
  /** Enqueues work on a run for any machine. Returns false if it was already enqueued. */
  enqueue(address: RunAddress, delivery: Delivery): Promise<boolean>
  /** Lists all deliveries of a run. */
  list(address: RunAddress): Promise<readonly DbosWorkflow[]>
}

/**
 * The queue of runs that are woken. It is partitioned by run, because the work of one run is done one piece at a time.
 * The queue of runs that start is not: DBOS takes partitions in any order, which would defeat priorities.
 */
export function getWokenQueue(queue: string): string {
  return `${queue}/woken`
}

/** The workflow that starts a run. */
export function getStartId(key: string): string {
  return `${key}/start`
}

/** The queue that a run was started in. */
export function findQueue(deliveries: readonly DbosWorkflow[]): string | undefined {
  const queue = deliveries.find(({ attributes }) => attributes?.['foldoutQueue'] !== undefined)?.attributes?.[
    'foldoutQueue'
  ]
  if (typeof queue === 'string') return queue
  return undefined
}

export function createMailbox(dbos: DeliverySdk, queue: string): Mailbox {
  return {
    async enqueue(address, { name, wokenBy, isCancel = false, isFirst = false, ...start }) {
      const key = getRunKey(address)
      const first = { foldoutKind: address.kind, foldoutId: address.id, foldoutQueue: queue }
      const options: DbosEnqueueOptions = {
        workflowName: WORKFLOW,
        workflowID: isFirst ? getStartId(key) : `${key}/${name}`,
        workflowIDReusePolicy: 'reject',
        attributes: { foldoutRun: key, ...(isFirst && first) },
        ...(isFirst ? { queueName: queue } : { queueName: getWokenQueue(queue), queuePartitionKey: key }),
        ...start,
      }
      try {
        await dbos.enqueue(options, address, wokenBy ?? null, isCancel)
        return true
      } catch (error) {
        if (isInUse(error)) return false
        throw error
      }
    },
    list: (address) => dbos.listWorkflows({ attributes: { foldoutRun: getRunKey(address) }, loadInput: false }),
  }
}

function isInUse(error: unknown): boolean {
  return error instanceof Error && error.name === 'DBOSWorkflowIDInUseError'
}

export type Delivered = RunEnd | { readonly status: 'cancelled' }

export const isOpen = ({ status }: DbosWorkflow): boolean =>
  status === 'ENQUEUED' || status === 'PENDING' || status === 'DELAYED'

/** Returns the status of a run: its current work, or the outcome of its last work. */
export function getRunStatus(id: string, deliveries: readonly DbosWorkflow[]): RunStatus {
  const running = deliveries.find(isOpen)
  const last = deliveries.toSorted((a, b) => (a.completedAt ?? 0) - (b.completedAt ?? 0)).at(-1)
  const machine = (running ?? last)?.executorId
  const base = { id, ...(machine !== undefined && { machine }) }
  if (deliveries.some(({ output }) => (output as Delivered | undefined)?.status === 'cancelled'))
    return { ...base, status: 'cancelled' }
  if (running) return { ...base, status: 'active' }
  if (last?.status === 'SUCCESS') return { ...base, ...toRunStatus(last.output as RunEnd) }
  if (last?.status === 'CANCELLED') return { ...base, status: 'cancelled' }
  return { ...base, status: 'failed', error: getErrorMessage(last?.error ?? last?.status) }
}
