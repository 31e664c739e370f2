import { LIST_TTL_MS } from '../../limits.ts'
import { SKILLS } from '../../skills/wire.ts'
import type { JsonObject } from '../../protocol/messages.ts'
import type { ServeMcpOptions } from '../contract/options.ts'
import type { ClientView } from './views.ts'

/** What a server says about itself. */
export interface ServerDescription {
  readonly info: JsonObject
  readonly capabilities: Readonly<Record<string, object>>
  readonly instructions: string
  /** How long and by whom its own answers may be cached. */
  readonly cache: { readonly ttlMs: number; readonly cacheScope: 'public' | 'private' }
  /** Whether that holds for the answers to a method. */
  isCached(method: string): boolean
}

export function describeServer(
  { name, version, title, cache, everything, catalogFor, skills }: ServeMcpOptions,
  { features, library, instructions, client }: ClientView,
): ServerDescription {
  const isPersonal = typeof everything === 'function' || catalogFor !== undefined
  const capabilities: Record<string, object> = {
    ...features?.capabilities,
    ...(library && { resources: {}, prompts: {} }),
    ...(skills && { resources: {}, extensions: { [SKILLS]: { directoryRead: true } } }),
    tools: { listChanged: true },
  }
  // An extension since then, which is declared elsewhere.
  if (client.era === 'modern') delete capabilities['tasks']
  return {
    info: { name, version, ...(title !== undefined && { title }) },
    capabilities,
    instructions,
    cache: { ttlMs: cache?.ttlMs ?? LIST_TTL_MS, cacheScope: cache?.scope ?? (isPersonal ? 'private' : 'public') },
    isCached: (method) => OWN.has(method) || (library !== undefined && LIBRARY.has(method)),
  }
}

/** What this server itself answers always, and if it serves sections. */
const OWN: ReadonlySet<string> = new Set(['server/discover', 'tools/list'])
const LIBRARY: ReadonlySet<string> = new Set(['prompts/list', 'resources/list', 'resources/templates/list'])

/** The capability of the server that a notification needs. */
const NEEDED: ReadonlyMap<string, string> = new Map([
  ['notifications/message', 'logging'],
  ['notifications/resources/updated', 'resources'],
  ['notifications/resources/list_changed', 'resources'],
  ['notifications/prompts/list_changed', 'prompts'],
])

/** Throws if a server must not send a notification, because it has not declared that it would. */
export function checkNotification(method: string, { capabilities }: ServerDescription): void {
  const needed = NEEDED.get(method)
  if (needed !== undefined && !capabilities[needed])
    throw new Error(`The server does not declare the capability '${needed}', which ${method} needs.`)
}
