import type { FeatureContext } from 'foldout/mcp'
import { formatPage, requestFromMcp } from 'foldout/mcp'
import { dropUndefined, type JsonObject } from 'foldout-shared/values'
import type { GatewayServer } from '../../servers/server.ts'
import type { Listed } from '../../model/snapshot.ts'
import type { UseContext } from '../../upstreams/uses.ts'

export const INVALID_PARAMS = -32_602

/** Forwards a request to a server, which is started if necessary. */
export async function forward(
  server: GatewayServer,
  method: string,
  params: JsonObject,
  context: Partial<FeatureContext>,
  place?: object,
): Promise<JsonObject> {
  const asked = params['name'] ?? params['uri']
  const name = typeof asked === 'string' ? `${method} ${asked}` : method
  const send: Parameters<GatewayServer['request']>[2] = ({ session }, { peer, signal, onProgress }) =>
    requestFromMcp(session, method, params, {
      ...dropUndefined({ signal, peer, input: peer?.input }),
      ...(onProgress && { onProgress: (progress) => onProgress(progress as never) }),
    })
  return server.request(name, dropUndefined(context), send, place)
}

/** For whom a server is used. */
export function toUse({ client, peer, signal }: Partial<FeatureContext>): UseContext {
  return {
    ...(client && { client }),
    ...(signal && { signal }),
    ...(peer && { peer, ask: peer.ask }),
  }
}

/** A page of a list, as clients ask for it. */
export function toPage(field: string, all: readonly Listed[], key: string, { cursor }: JsonObject): JsonObject {
  const isCursor = cursor === undefined || typeof cursor === 'string'
  const page = isCursor ? formatPage(all, cursor, { getName: (item) => String(item[key]) }) : undefined
  if (!page) throw createError(INVALID_PARAMS, 'This server did not issue this cursor.')
  const { items, ...next } = page
  return { [field]: items, ...next }
}

export function createError(code: number, message: string, data?: object): Error {
  return Object.assign(new Error(message), { code, ...(data && { data }) })
}
