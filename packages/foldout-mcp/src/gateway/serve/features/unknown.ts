import type { FeatureContext, FeatureNotification, FeatureRequest } from 'foldout/mcp'
import { ignore } from 'foldout/promises'
import { isObject, type JsonObject } from 'foldout-shared/values'
import type { GatewayServer } from '../../servers/server.ts'
import { forward, toUse } from './forward.ts'

/*
 * What nobody here knows goes to the server, and comes from it, if a client sees only one. Among several servers, nothing says which
 * one is meant.
 */

/** The capabilities that depend on what the gateway does with them. */
const KNOWN: ReadonlySet<string> = new Set([
  'tools',
  'resources',
  'prompts',
  'completions',
  'logging',
  'tasks',
  'extensions',
])
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  'io.modelcontextprotocol/tasks',
  'io.modelcontextprotocol/skills',
])

function findOnly([only, second]: readonly GatewayServer[]): GatewayServer | undefined {
  if (second) return undefined
  return only
}

/** The capabilities of the only server that nobody here knows. */
export function listUnknownCapabilities(servers: readonly GatewayServer[]): Readonly<Record<string, object>> {
  return keepObjects(findOnly(servers)?.snapshot?.capabilities, KNOWN)
}

/** The extensions of the only server that nobody here knows. */
export function listUnknownExtensions(servers: readonly GatewayServer[]): Readonly<Record<string, object>> {
  return keepObjects(findOnly(servers)?.snapshot?.capabilities['extensions'], KNOWN_EXTENSIONS)
}

function keepObjects(given: unknown, known: ReadonlySet<string>): Readonly<Record<string, object>> {
  if (!isObject(given)) return {}
  const kept = Object.entries(given).filter(([name, value]) => !known.has(name) && isObject(value))
  return Object.fromEntries(kept) as Readonly<Record<string, object>>
}

/** Sends a request to the only server. If that does not know it either, nobody does, which modern clients see over HTTP. */
export async function passRequest(
  servers: readonly GatewayServer[],
  { method, params }: FeatureRequest,
  context: FeatureContext,
): Promise<JsonObject | undefined> {
  const only = findOnly(servers)
  try {
    return await (only && forward(only, method, params, context))
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === METHOD_NOT_FOUND) return undefined
    throw error
  }
}

const METHOD_NOT_FOUND = -32_601

/** Sends a client's notification to the only server, which is started if necessary. */
export function passNotification(
  servers: readonly GatewayServer[],
  { method, params }: FeatureNotification,
  client: FeatureContext['client'],
): void {
  const sent = findOnly(servers)?.use(({ session }) => session.notify(method, params), toUse({ client }))
  if (sent) void ignore(sent, 'a notification has no answer')
}
