import { isObject } from 'foldout-shared/values'
import { ignore } from '../../../core/promises.ts'
import { SUBSCRIPTION_ID } from '../../keys.ts'
import { MAX_SUBSCRIPTIONS, MAX_WATCHED } from '../../limits.ts'
import { INTERNAL_ERROR } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/messages.ts'
import type { FeatureNotification, McpFeatures } from '../contract/features.ts'
import type { ServedRequest } from '../requests/request.ts'
import { createInvalid, RequestError } from '../requests/request-error.ts'
import type { ClientView } from '../views/views.ts'

/** What a client listens for. */
interface Filter {
  readonly toolsListChanged?: true
  readonly promptsListChanged?: true
  readonly resourcesListChanged?: true
  readonly resourceSubscriptions?: readonly string[]
}

interface Subscription {
  readonly request: ServedRequest
  readonly filter: Filter
  end(): void
}

/** The notifications that a modern client gets only if it listens, with the field of the filter. */
const LISTS: ReadonlyMap<string, 'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged'> = new Map([
  ['notifications/tools/list_changed', 'toolsListChanged'],
  ['notifications/prompts/list_changed', 'promptsListChanged'],
  ['notifications/resources/list_changed', 'resourcesListChanged'],
])
const UPDATED = 'notifications/resources/updated'

/** Whether modern clients get a notification only if they listen for it. */
export function needsSubscription(method: string): boolean {
  return method === UPDATED || LISTS.has(method)
}

/** The requests with which modern clients listen for changes. Each is answered when it ends. */
export class Subscriptions {
  readonly #max: number
  readonly #open = new Set<Subscription>()

  constructor(max = MAX_SUBSCRIPTIONS) {
    this.#max = max
  }

  /** Listens until the client cancels the request, or the server closes. */
  async listen(
    request: ServedRequest,
    view: ClientView,
    capabilities: McpFeatures['capabilities'],
  ): Promise<JsonObject> {
    const asked = request.params['notifications']
    if (!isObject(asked)) throw createInvalid("'notifications' must say what to listen for.")
    if (this.#open.size >= this.#max) throw new RequestError(INTERNAL_ERROR, 'Subscription limit reached')
    const filter = limitFilter(asked, capabilities)
    // Before the client knows of it, so that it misses nothing from then on.
    const ended = Object.keys(filter).length > 0 ? this.#wait(request, filter, view) : undefined
    const method = 'notifications/subscriptions/acknowledged'
    await request.send(stamp({ method, params: { notifications: filter } }, request))
    await ended
    return { _meta: { [SUBSCRIPTION_ID]: request.id } }
  }

  publish(notification: FeatureNotification): void {
    for (const { request, filter } of this.#open)
      if (isWanted(filter, notification))
        void ignore(request.send(stamp(notification, request)), 'a client that has gone needs no notification')
  }

  /** Ends all of them, and has them answered. */
  close(): void {
    for (const subscription of Array.from(this.#open)) subscription.end()
  }

  async #wait(request: ServedRequest, filter: Filter, { client, features }: ClientView): Promise<void> {
    const stop = features?.listen?.(filter.resourceSubscriptions ?? [], { client })
    try {
      await new Promise<void>((resolve) => {
        const subscription: Subscription = {
          request,
          filter,
          end: () => {
            this.#open.delete(subscription)
            resolve()
          },
        }
        this.#open.add(subscription)
        if (request.signal.aborted) subscription.end()
        request.signal.addEventListener('abort', subscription.end, { once: true })
      })
    } finally {
      stop?.()
    }
  }
}

/** What is left of a filter without that which the server does not announce. */
function limitFilter(asked: JsonObject, capabilities: Readonly<Record<string, object>>): Filter {
  const announces = (name: string, field: string): boolean => {
    const declared = capabilities[name]
    return isObject(declared) && declared[field] === true
  }
  const takes = (field: string, name: string): boolean => asked[field] === true && announces(name, 'listChanged')
  const { resourceSubscriptions: given } = asked
  const uris = Array.isArray(given) ? given.filter((uri) => typeof uri === 'string').slice(0, MAX_WATCHED) : []
  return {
    ...(takes('toolsListChanged', 'tools') && { toolsListChanged: true }),
    ...(takes('promptsListChanged', 'prompts') && { promptsListChanged: true }),
    ...(takes('resourcesListChanged', 'resources') && { resourcesListChanged: true }),
    ...(uris.length > 0 && announces('resources', 'subscribe') && { resourceSubscriptions: uris }),
  }
}

function isWanted(filter: Filter, { method, params }: FeatureNotification): boolean {
  if (method === UPDATED) return filter.resourceSubscriptions?.includes(String(params?.['uri'])) === true
  const field = LISTS.get(method)
  return field !== undefined && filter[field] === true
}

/** Names the subscription that a notification is for. */
function stamp({ method, params }: FeatureNotification, { id }: ServedRequest): FeatureNotification {
  const meta = isObject(params?.['_meta']) ? params['_meta'] : {}
  return { method, params: { ...params, _meta: { ...meta, [SUBSCRIPTION_ID]: id } } }
}
