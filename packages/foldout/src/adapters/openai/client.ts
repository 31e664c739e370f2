import type { ClientOptions, OpenAI } from 'openai'
import { FoldoutError, getErrorMessage } from '../../core/errors.ts'
import { importPeer } from '../../core/peer.ts'

export type Fetch = NonNullable<ClientOptions['fetch']>

export interface ClientSettings {
  readonly apiKey: string | undefined
  readonly baseURL: string | undefined
  readonly fetch: Fetch | undefined
  /** Whether it is somebody else's server, which must not get what the environment holds for OpenAI. */
  readonly isForeign?: boolean
}

/** Makes the client when it is first asked for, and keeps it. */
export function lazyClient(from: OpenAI | ClientSettings): () => Promise<OpenAI> {
  if ('responses' in from) return () => Promise.resolve(from)
  let client: Promise<OpenAI> | undefined
  return () => (client ??= makeClient(from))
}

async function makeClient({ apiKey, baseURL, fetch, isForeign = false }: ClientSettings): Promise<OpenAI> {
  const { OpenAI: Client } = await importPeer('openai', () => import('openai'))
  const options: ClientOptions = { baseURL, ...(fetch === undefined ? {} : { fetch }) }
  try {
    if (!isForeign) return new Client({ ...options, ...(apiKey === undefined ? {} : { apiKey }) })
    return new Client({
      ...options,
      organization: null,
      project: null,
      // The client insists on a key, also where none is to be sent.
      apiKey: apiKey ?? 'none',
      ...(apiKey === undefined ? { defaultHeaders: { Authorization: null } } : {}),
    })
  } catch (error) {
    throw new FoldoutError(
      'adapter-config',
      `No client for OpenAI could be made. Pass an apiKey or set OPENAI_API_KEY. The reason: ${getErrorMessage(error)}`,
      { cause: error },
    )
  }
}

/** Whether a client speaks to OpenAI and not to a server that is like it. */
export function isOpenAI({ baseURL }: OpenAI): boolean {
  return /^https:\/\/([a-z]+\.)?api\.openai\.com(\/|$)/.test(baseURL)
}
