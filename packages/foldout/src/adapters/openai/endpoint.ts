import type { ClientOptions, OpenAI } from 'openai'
import { getErrorMessage } from '../../core/errors.ts'
import type { Json } from '../../core/json/json.ts'
import { importPeer } from '../../core/peer.ts'
import { AdapterError } from '../adapter-error.ts'
import type { Features } from './features.ts'

export type ToolAdditions = 'auto' | 'native' | 'plain'

/** A model on a server, with everything learned about that server. */
export interface Endpoint {
  readonly name: string
  readonly model: string
  readonly toolAdditions: ToolAdditions
  readonly reasoning: boolean
  /** Sent as `prompt_cache_key`. */
  readonly cacheKey: string | undefined
  readonly maxRetries: number | undefined
  readonly parameters: Readonly<Record<string, Json>>
  readonly features: Features
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
  const options: ClientOptions = { baseURL, ...(fetch === undefined ? {} : { fetch }) }
  try {
    if (!isForeign) return new Client({ ...options, ...(apiKey === undefined ? {} : { apiKey }) })
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

/** Whether a client talks to OpenAI itself, not to a compatible server. */
export function isOpenAI({ baseURL }: OpenAI): boolean {
  return /^https:\/\/([a-z]+\.)?api\.openai\.com(\/|$)/.test(baseURL)
}
