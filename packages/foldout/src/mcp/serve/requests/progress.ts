import type { ToolProgress } from '../../../catalog/tool.ts'
import { ignore } from '../../../core/promises.ts'
import { RELATED_TASK } from '../../keys.ts'
import { PROGRESS_PER_SECOND } from '../../limits.ts'
import type { FeatureNotification } from '../contract/features.ts'
import type { ServedRequest } from './request.ts'

type Notify = (notification: FeatureNotification) => Promise<void>

export interface ProgressReports {
  /** Present only if the client wants progress. */
  readonly report: ((progress: ToolProgress) => void) | undefined
  /** Resolves when the result may follow. Absent if it may follow immediately. */
  readonly sent?: () => Promise<void>
  /** Goes on after the end, because the result is a task that still runs. The reports belong to no request then. */
  readonly goOn?: (taskId: string, notify: Notify) => void
  end(): void
}

/** Clients that read a report together with the result drop the report. */
const PAUSE_MS = 5
const WINDOW_MS = 1_000

const NOT_WANTED: ProgressReports = { report: undefined, end: () => undefined }

/** Sends a call's progress to its client. If reports come too fast, only the latest is sent, a little later. */
export function createProgressReports(request: ServedRequest): ProgressReports {
  const { progressToken } = request.meta
  if (progressToken === undefined) return NOT_WANTED
  let isRunning = true
  let notify: Notify = (notification) => request.notify(notification)
  let task: object | undefined
  let sending: Promise<void> = Promise.resolve()
  let last = -Infinity
  let windowStart = -Infinity
  let inWindow = 0
  let latest: ToolProgress | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Reports of a task whose client does not know it yet. */
  let held: ToolProgress[] | undefined = []

  function send(progress: ToolProgress): void {
    latest = undefined
    inWindow++
    const params = { ...progress, progressToken, ...(task && { _meta: { ...progress['_meta'], ...task } }) }
    // A client that no longer listens does not stop the call.
    const sent = ignore(
      notify({ method: 'notifications/progress', params }),
      'a client that does not listen stops no call',
    )
    sending = sending.then(() => sent)
    last = performance.now()
  }
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (latest) send(latest)
  }
  function report(progress: ToolProgress): void {
    if (!isRunning) return
    if (held && progress['_meta']?.[RELATED_TASK] !== undefined) {
      held = [...held, progress].slice(-PROGRESS_PER_SECOND)
      return
    }
    const now = performance.now()
    if (now - windowStart >= WINDOW_MS) {
      windowStart = now
      inWindow = 0
    }
    if (inWindow < PROGRESS_PER_SECOND) return send(progress)
    latest = progress
    timer ??= setTimeout(flush, windowStart + WINDOW_MS - now)
  }
  return {
    report,
    async sent() {
      flush()
      await sending
      const pause = last + PAUSE_MS - performance.now()
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause))
    },
    goOn(taskId, later) {
      task = { [RELATED_TASK]: { taskId } }
      notify = later
      setTimeout(() => {
        const waiting = held ?? []
        held = undefined
        for (const one of waiting) report(one)
      }, PAUSE_MS)
    },
    end() {
      if (task) return
      isRunning = false
      clearTimeout(timer)
    },
  }
}
