import { parseJson } from '../../core/json/json.ts'
import { isObject } from 'foldout-shared/values'
import type { ClientOptions, OpenAI } from 'openai'
import { getErrorMessage } from '../../core/errors.ts'
import { type Json } from '../../core/json/json.ts'
import { importPeer } from '../../core/peer.ts'
import { AdapterError } from '../adapter-error.ts'
import { MAX_REFUSAL_CHARACTERS } from '../limits.ts'
import type { Features } from './features.ts'

export type ToolAdditions = 'auto' | 'native' | 'plain' | 'through'

/** A model on a server, with everything learned about that server. */
export interface Endpoint {
  readonly name: string
  readonly model: string
  readonly toolAdditions: ToolAdditions
  readonly reasoning: boolean
  /** Sent as `prompt_cache_key`. */
  readonly cacheKey: string | undefined
  /** Whether to ask why the cache missed. */
  readonly cacheDiagnostics: boolean
  readonly maxRetries: number | undefined
  readonly parameters: Readonly<Record<string, Json>>
  readonly features: Features
  /** The `native` content of replies whose encrypted reasoning the server rejected. */
  readonly refusedReasoning: WeakSet<object>
  client(): Promise<OpenAI>
}

export type Fetch = NonNullable<ClientOptions['fetch']>

export interface ClientSettings {
  readonly apiKey: string | undefined
  readonly baseURL: string | undefined
  readonly fetch: Fetch | undefined
  /** Whether the server belongs to another company, so it must not receive OpenAI's key from the environment. */
  readonly isForeign?: boolean
}

/** Creates the client when it is first needed, and keeps it. */
export function createLazyClient(from: OpenAI | ClientSettings): () => Promise<OpenAI> {
  if ('responses' in from) return () => Promise.resolve(from)
  let client: Promise<OpenAI> | undefined
  return () => (client ??= createClient(from))
}

async function createClient({ apiKey, baseURL, fetch, isForeign = false }: ClientSettings): Promise<OpenAI> {
  const { OpenAI: Client } = await importPeer('openai', () => import('openai'))
  const options: ClientOptions = { baseURL, fetch: withReadableErrors(fetch) }
  try {
    if (!isForeign) return new Client({ ...options, ...(apiKey !== undefined && { apiKey }) })
    return new Client({
      ...options,
      organization: null,
      project: null,
      // The client requires a key, even if none is sent.
      apiKey: apiKey ?? 'none',
      ...(apiKey === undefined ? { defaultHeaders: { Authorization: null } } : {}),
    })
  } catch (error) {
    throw new AdapterError(
      'adapter-config',
      `The client for OpenAI could not be created. Pass an apiKey or set OPENAI_API_KEY. The reason: ${getErrorMessage(error)}`,
      { adapter: 'openai', cause: error },
    )
  }
}

/**
 * Passes errors on in the form that the client reads. Mistral, vLLM and servers on FastAPI answer with `{ detail }` or
 * `{ message }`, Gemini with a list, and some servers with an error whose status is 200: of these, the client would only
 * say that there is no body.
 */
function withReadableErrors(fetch: Fetch = globalThis.fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    const isJson = /\bjson\b/i.test(response.headers.get('content-type') ?? '')
    // Every request asks for a stream, so a JSON answer with status 200 is no reply.
    if (!isJson) return response
    const text = await response.text()
    const body = parseJson(text)
    const error = findError(body)
    const { status: given, headers } = response
    const status = response.ok && error !== undefined ? getErrorStatus(error) : given
    const isKnown = isObject(body) && isObject(body['error'])
    const passed = isKnown || (response.ok && error === undefined) ? text : formatError(body)
    return new Response(passed, { status, headers: withoutLength(headers) })
  }
}

function findError(body: unknown): unknown {
  const one: unknown = Array.isArray(body) ? body[0] : body
  return isObject(one) ? (one['error'] ?? undefined) : undefined
}

function formatError(body: unknown): string {
  const error = findError(body)
  if (isObject(error)) return JSON.stringify({ error })
  const { message, code, type } = isObject(body) ? body : {}
  const said = typeof message === 'string' ? message : JSON.stringify(error ?? body ?? '')
  return JSON.stringify({ error: { message: said.slice(0, MAX_REFUSAL_CHARACTERS), code, type } })
}

/** Returns the status that an error stands for, although the server has answered with 200. */
function getErrorStatus(error: unknown): number {
  const { code, status, type } = isObject(error) ? error : {}
  const named = [code, status].map(Number).find((number) => number >= 400 && number < 600)
  const isBusy = /overload|rate.?limit|capacity|server|time.?out|unavailable/i.test(`${String(code)} ${String(type)}`)
  return named ?? (isBusy ? 503 : 400)
}

/** The body is no longer compressed, and may have another length. */
function withoutLength(headers: Headers): Headers {
  const rest = new Headers(headers)
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) rest.delete(name)
  return rest
}

/** Whether a client talks to OpenAI itself, not to a compatible server. */
export function isOpenAI({ baseURL }: Pick<OpenAI, 'baseURL'>): boolean {
  return /^https:\/\/([a-z]+\.)?api\.openai\.com(\/|$)/.test(baseURL)
}
