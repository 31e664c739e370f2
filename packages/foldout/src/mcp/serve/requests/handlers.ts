import { ignore } from '../../../core/promises.ts'
import { PAGE_SIZE } from '../../limits.ts'
import { serveSkills } from '../../skills/served-skills.ts'
import type { JsonObject } from '../../protocol/messages.ts'
import type { ClientChannel, FeatureNotification } from '../contract/features.ts'
import type { ServeMcpOptions } from '../contract/options.ts'
import { formatPage, toMcpTool } from '../views/list.ts'
import { createClientMemory } from '../views/memory.ts'
import { watchList, type ClientView } from '../views/views.ts'
import { createAnnouncements } from './announcements.ts'
import { answerCall, refuseDeep, type CallParts } from './call.ts'
import { FeatureState, type SettingsOwner } from './feature-state.ts'
import { createProgressReports } from './progress.ts'
import type { Handler, ServedRequest } from './request.ts'
import { createInvalid, UnknownMethod, UNKNOWN_CURSOR } from './request-error.ts'
import { createResourceHandlers } from './resources.ts'

export interface HandlerParts {
  readonly options: ServeMcpOptions
  readonly view: ClientView
  /** The handlers of the methods that the client's era has besides those of every era. */
  readonly own: Readonly<Record<string, Handler>>
  /** The methods that the client's era does not have. */
  readonly removed: ReadonlySet<string>
  /** Asks the client outside of its requests. */
  readonly channel: ClientChannel
  /** Whether the client stays for more than one request, so it can be notified of changes. */
  readonly isLasting: boolean
  /** A result with more bytes of JSON is not sent. */
  readonly maxResultBytes: number
  /** What a legacy client has declared when it connected. */
  getCapabilities(): JsonObject
  /** Sends a notification that belongs to no request. */
  notify(notification: FeatureNotification): Promise<void>
}

/** Answers the requests of one client with what a view shows. */
export interface Handlers {
  readonly answer: Handler
  /** Applies another machine's notes about the client. */
  refresh(): Promise<void>
  /** Stops notifying the client. */
  stop(): void
}

export function createHandlers(parts: HandlerParts): Handlers {
  const { options, view, removed, own, isLasting, maxResultBytes } = parts
  const { exposed, features, library, memory = createClientMemory() } = view
  const onError = (error: Error): void => options.onError?.(error)
  const notify = (notification: FeatureNotification): Promise<void> => parts.notify(notification)
  const announcements = createAnnouncements(notify, onError)
  const watch = isLasting ? watchList(exposed, () => announcements.announce()) : undefined
  const send = (notification: FeatureNotification): void =>
    void ignore(notify(notification), 'a client that has gone does not need the notification')
  const unsubscribe = isLasting ? features?.subscribe?.(send, parts.channel) : undefined
  const state = new FeatureState({ view, memory, getCapabilities: () => parts.getCapabilities(), notify, onError })
  const calls: CallParts = { view, memory, announcements, maxResultBytes, notify }
  const pageSize = options.pageSize ?? PAGE_SIZE
  const table = new Map<string, Handler>(
    Object.entries({
      ...createResourceHandlers({ library, skills: options.skills && serveSkills(options.skills) }, pageSize),
      'tools/list': createListHandler(view, pageSize, () => watch?.given()),
      'tools/call': (request) => answerCall(calls, request),
      ...own,
    }),
  )
  return {
    answer(request) {
      const handler = table.get(request.method)
      if (handler) return handler(request)
      if (removed.has(request.method)) throw new UnknownMethod()
      return answerFeature({ view, memory }, state, request)
    },
    async refresh() {
      exposed.refresh?.()
      await state.apply()
    },
    stop() {
      watch?.stop()
      unsubscribe?.()
    },
  }
}

function createListHandler({ exposed, client }: ClientView, size: number, onGiven: () => void): Handler {
  return ({ params: { cursor } }) => {
    const page = formatPage(exposed.list(), cursor, { size, getName: ({ name }) => name })
    if (!page) throw createInvalid(UNKNOWN_CURSOR)
    if (cursor === undefined) {
      exposed.listed()
      onGiven()
    }
    const { items, ...next } = page
    return { tools: items.map((tool) => toMcpTool(tool, client.era)), ...next }
  }
}

/** Answers requests that are not about tools. */
async function answerFeature(
  { view, memory }: Pick<SettingsOwner, 'view' | 'memory'>,
  state: FeatureState,
  request: ServedRequest,
): Promise<JsonObject> {
  const { client, features } = view
  const { method, params, meta, signal } = request
  if (!features) throw new UnknownMethod()
  refuseDeep(request)
  const progress = createProgressReports(request)
  try {
    const peer = request.createPeer(memory.logLevel)
    const { report } = progress
    const context = { client, peer, signal, meta, ...(report && { onProgress: report }) }
    const result = await features.request({ method, params }, context)
    if (!result) throw new UnknownMethod()
    // Legacy clients set this once, modern ones with every request.
    if (client.era === 'legacy') state.note(method, params)
    await progress.sent?.()
    return result
  } finally {
    progress.end()
  }
}
