import { MAX_HTTP_RESULT_BYTES } from '../../limits.ts'
import type { ErrorObject } from '../../protocol/errors.ts'
import { getParams, isAnswer, type JsonObject } from '../../protocol/messages.ts'
import { isValidRequest, type ValidRequest } from '../../protocol/valid-message.ts'
import { Answers } from '../../transports/http/answers.ts'
import type { HttpRequest } from '../../transports/http/exchange.ts'
import { HttpRefusal } from '../../transports/http/refusal.ts'
import { readEnvelope } from '../contract/client.ts'
import type { ServeMcpOptions } from '../contract/options.ts'
import { NO_CHANNEL } from '../conversation/channel.ts'
import { Conversation, type ConversationParts } from '../conversation/conversation.ts'
import { checkEnvelope, checkVersion } from '../conversation/eras.ts'
import { needsSubscription, Subscriptions } from '../conversation/subscriptions.ts'
import { getMeta } from '../requests/request.ts'
import { RequestError } from '../requests/request-error.ts'
import { watchList, type ClientView, type ClientViews } from '../views/views.ts'
import type { HttpCall } from './legacy.ts'
import { checkHeaders, checkParamHeaders } from './modern-headers.ts'
import type { LimitedStreams } from './streams.ts'

/** The code for a question to a client that has not declared that it can answer it. */
const MISSING_CAPABILITY = -32_021

/** Answers the requests of modern clients over HTTP, each in a conversation of its own. */
export class ModernRequests {
  readonly #options: ServeMcpOptions
  readonly #views: ClientViews
  readonly #streams: LimitedStreams
  /** Those who listen, within the limit of streams. */
  readonly #subscriptions = new Subscriptions(Infinity)
  readonly #stopAnnouncing: () => void

  constructor(options: ServeMcpOptions, views: ClientViews, streams: LimitedStreams) {
    this.#options = options
    this.#views = views
    this.#streams = streams
    this.#stopAnnouncing = announceChanges(views, this.#subscriptions)
  }

  /** Answers a request, or takes a notification. */
  answer(call: HttpCall, message: JsonObject): void {
    const { request, reply, caller } = call
    const meta = getMeta(getParams(message))
    if (isValidRequest(message)) checkRequest(request, message)
    const view = this.#views.modern(readEnvelope(meta), caller.principal)
    if (!isValidRequest(message)) {
      this.#createConversation(view, { send: async () => undefined }).receive(message)
      return reply.end(202, {})
    }
    checkParamHeaders(request, message, view)
    if (message.method === 'subscriptions/listen') this.#streams.take(reply, caller)
    this.#converse(call, message, view)
  }

  close(): void {
    this.#stopAnnouncing()
    this.#subscriptions.close()
  }

  #converse({ request, reply }: HttpCall, message: ValidRequest, view: ClientView): void {
    const { id } = message
    let isUnknown = false
    const answers = new Answers(reply, {
      ids: [id],
      headers: {},
      getStatus: ({ error }) => {
        if (isUnknown) return 404
        return getStatus(error as ErrorObject | undefined)
      },
    })
    const conversation = this.#createConversation(view, {
      getHeaders: () => ({ get: (name) => request.getHeader(name.toLowerCase()) ?? null }),
      onUnknownMethod: () => void (isUnknown = true),
      async send(sent) {
        if (isAnswer(sent)) answers.answer(id, sent)
        else answers.send(sent)
      },
    })
    reply.onClose(() => conversation.close())
    conversation.receive(message)
  }

  #createConversation(view: ClientView, parts: Pick<ConversationParts, 'send' | 'getHeaders' | 'onUnknownMethod'>) {
    return new Conversation({
      ...parts,
      options: this.#options,
      view,
      isLasting: false,
      maxResultBytes: this.#options.maxResultBytes ?? MAX_HTTP_RESULT_BYTES,
      subscriptions: this.#subscriptions,
    })
  }
}

/** Checks what a request says about itself. Over HTTP, it is refused before anything else. */
function checkRequest(request: HttpRequest, message: ValidRequest): void {
  const meta = getMeta(getParams(message))
  try {
    checkEnvelope(meta)
    checkHeaders(request, message)
    checkVersion(meta)
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const { code, message: told, data } = error
    throw new HttpRefusal(400, { code, message: told, ...(data !== undefined && { data }) }, {}, message.id)
  }
}

function getStatus(error: ErrorObject | undefined): number {
  if (error?.code === MISSING_CAPABILITY) return 400
  return 200
}

/** Notifies modern clients that listen of changes to every list that they may have. */
function announceChanges(views: ClientViews, subscriptions: Subscriptions): () => void {
  const stops: (() => void)[] = []
  const stop = views.watchModern(({ exposed, features }) => {
    const watch = watchList(exposed, () => subscriptions.publish({ method: 'notifications/tools/list_changed' }))
    stops.push(() => watch.stop())
    // Other notifications are sent with the request that they belong to.
    const unsubscribe = features?.subscribe?.((notification) => {
      if (needsSubscription(notification.method)) subscriptions.publish(notification)
    }, NO_CHANNEL)
    if (unsubscribe) stops.push(unsubscribe)
  })
  return () => {
    stop()
    for (const one of stops) one()
  }
}
