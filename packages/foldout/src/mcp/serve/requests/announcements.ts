import type { FeatureNotification } from '../contract/features.ts'
import type { ServedRequest } from './request.ts'

/** Tells a client that its list of tools has changed. */
export interface Announcements {
  /** Records that a call runs. Call the returned function when it has ended. */
  begin(call: ServedRequest): () => void
  announce(): void
  /** Resolves when the notification is sent that has to arrive before a result. */
  readonly pending: Promise<void> | undefined
}

const LIST_CHANGED: FeatureNotification = { method: 'notifications/tools/list_changed' }

/**
 * Notifies a client that its list has changed. While a call runs, the notification is sent with the call: it arrives
 * before the result, even for clients without an open stream.
 */
export function createAnnouncements(
  notify: (notification: FeatureNotification) => Promise<void>,
  onError: (error: Error) => void,
): Announcements {
  const calls = new Set<ServedRequest>()
  let pending: Promise<void> | undefined
  return {
    begin(call) {
      calls.add(call)
      return () => calls.delete(call)
    },
    announce() {
      const call = [...calls].at(-1)
      const sent = call ? call.notify(LIST_CHANGED) : notify(LIST_CHANGED)
      const current = sent
        .catch((error: unknown) => onError(error as Error))
        .finally(() => {
          if (pending === current) pending = undefined
        })
      pending = current
    },
    get pending() {
      return pending
    },
  }
}
