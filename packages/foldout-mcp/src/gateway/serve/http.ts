import type { IncomingMessage, ServerResponse } from 'node:http'
import { listenForMcp, type HttpOptions, type ServedHttp, type ServedMcp } from 'foldout/mcp'
import { UsageError } from '../config/config.ts'
import { describeResource, METADATA_PATH } from '../policy/tokens.ts'

export interface ListenOptions extends Omit<HttpOptions, 'path'> {
  /** The MCP server of a preset. The empty name means all servers. */
  find(preset: string): ServedMcp | undefined | Promise<ServedMcp>
  /** Whether clients need a token. */
  readonly isProtected: boolean
  /** The URL that clients use, if the gateway cannot know it. */
  readonly publicUrl: string | undefined
}

const PATH = '/mcp'
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/i

/**
 * Serves all servers at `/mcp`, and each preset at `/mcp/<preset>`.
 *
 * @throws UsageError if other machines could use it without a token.
 */
export function listenHttp({ find, isProtected, publicUrl, ...options }: ListenOptions): Promise<ServedHttp> {
  const { host = '127.0.0.1' } = options
  if (!isProtected && !LOOPBACK.test(host))
    throw new UsageError(
      `Other machines can reach ${host}. Say who may use the gateway: set "http.tokens" in the configuration, such as ["\${FOLDOUT_TOKEN}"].`,
    )
  const findServed = (path: string): ServedMcp | undefined | Promise<ServedMcp> => {
    if (path === PATH) return find('')
    if (!path.startsWith(`${PATH}/`)) return undefined
    const preset = decode(path.slice(PATH.length + 1))
    if (preset === undefined || preset === '') return undefined
    return find(preset)
  }
  const findMetadata = async (path: string): Promise<Pick<ServedMcp, 'handle'> | undefined> => {
    const resource = path.slice(METADATA_PATH.length) || PATH
    if (!(await findServed(resource))) return undefined
    return { handle: async (request, response) => sendMetadata(request, response, resource, publicUrl) }
  }
  return listenForMcp(
    (path) => (isProtected && path.startsWith(METADATA_PATH) ? findMetadata(path) : findServed(path)),
    { ...options, path: PATH, isAuthorized: isProtected },
  )
}

/** Serves the document that tells clients how to authenticate. It is public, so web pages may read it too. */
function sendMetadata(
  { method = 'GET', headers }: IncomingMessage,
  response: ServerResponse,
  resource: string,
  publicUrl: string | undefined,
): void {
  const isRead = method === 'GET' || method === 'HEAD'
  response.writeHead(isRead ? 200 : 405, { 'content-type': 'application/json', 'access-control-allow-origin': '*' })
  const origin = publicUrl === undefined ? `http://${headers.host ?? 'localhost'}` : new URL(publicUrl).origin
  response.end(isRead ? JSON.stringify(describeResource(origin, resource)) : '{}')
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
