import { existsSync } from 'node:fs'
import type { ServerDefinition } from '../../gateway/config/definition.ts'
import type { ClientDescription, Scope } from '../client.ts'
import { mergeServers, switchOff, type FoundServer } from '../collect.ts'
import { isObject } from 'foldout-shared/values'
import { getOrigin, isFoldout, readEntry } from '../entries.ts'
import { followLinks } from '../files.ts'
import { readConfigServers, toPortable, toWritten } from '../gateway-config.ts'
import type { Whereabouts } from '../places.ts'
import { readSwitches } from '../switched-off.ts'
import type { ConfigRecord, MovedServer, Receipt, State } from '../state.ts'
import { isSameEntry } from './undo.ts'

/** What moves from a client's file into the gateway's configuration. */
export interface Move {
  readonly moved: readonly MovedServer[]
  /** Servers that were moved before and cannot come back, because the client has others with their names. */
  readonly waiting: readonly MovedServer[]
  /** The servers that the client still starts itself although the gateway could serve them. */
  readonly left: readonly string[]
  /** The servers to add to the configuration. */
  readonly servers: ReadonlyMap<string, ServerDefinition>
  /** The same servers as the client had them. */
  readonly originals: ReadonlyMap<string, unknown>
  /** The servers of the configuration that the client used before which it no longer needs there. */
  readonly returned: ReadonlySet<string>
  /** Those of them that are now in the other configuration, as they were. */
  readonly carried: ReadonlySet<string>
  readonly notes: readonly string[]
}

interface MoveRequest {
  readonly client: ClientDescription
  readonly scope: Scope
  readonly where: Whereabouts
  readonly name: string
  readonly isMove?: boolean
}

/** An earlier installation, with the servers that cannot come back from it. */
type Earlier = Receipt & { readonly taken: readonly MovedServer[] }

interface MoveContext {
  readonly root: unknown
  readonly entries: ReadonlyMap<string, unknown>
  readonly config: string
  readonly earlier: Earlier | undefined
  readonly state: State
}

interface Readable extends FoundServer {
  readonly entry: unknown
  /** The same server, if an earlier installation moved it. */
  readonly before: MovedServer | undefined
}

/** The configuration that the client used before. */
interface Previous {
  readonly file: string
  readonly servers: ReadonlyMap<string, ServerDefinition>
  readonly record: ConfigRecord | undefined
}

/**
 * Plans which servers to move into the gateway. Those that an earlier installation moved stay there, as they are now.
 * Servers that the gateway cannot serve stay with the client.
 */
export async function planMove(request: MoveRequest, context: MoveContext): Promise<Move> {
  const { config, earlier, state } = context
  const readable = await listReadable(request, context)
  const isChosen = ({ before }: Readable): boolean => request.isMove === true || before !== undefined
  const chosen = readable.filter(isChosen)
  const left = readable.filter((server) => !isChosen(server)).map(({ source }) => source.name)
  const isSameConfig = earlier?.config === (await followLinks(config))
  const isSettled = isSameConfig && existsSync(config)
  const settled = chosen.flatMap(({ before }) => (isSettled && before ? [before] : []))
  const fresh = chosen.filter(({ before }) => !isSettled || !before)
  const waiting = (isSettled && earlier?.taken) || []
  if (fresh.length === 0) return { ...NOTHING, moved: settled, waiting, left }
  const previous = earlier && !isSameConfig ? await readPrevious(earlier.config, state) : undefined
  const addition = await planAddition(fresh, config, previous)
  return { ...addition, moved: [...settled, ...addition.moved], waiting, left }
}

type Addition = Omit<Move, 'waiting' | 'left'>

const NOTHING: Addition = {
  moved: [],
  servers: new Map(),
  originals: new Map(),
  returned: new Set(),
  carried: new Set(),
  notes: [],
}

async function planAddition(
  fresh: readonly Readable[],
  config: string,
  previous: Previous | undefined,
): Promise<Addition> {
  const found = fresh.map((server) => ({ ...server, definition: getDefinition(server, config, previous) }))
  const merged = mergeServers(found, await readConfigServers(config))
  const added = merged.filter(({ isKnown }) => !isKnown)
  const names = new Map(merged.flatMap(({ sources, name }) => sources.map((source) => [source.name, name] as const)))
  const getName = ({ source }: Readable): string => names.get(source.name) ?? source.name
  const servers = new Map(added.map(({ name, definition }) => [name, definition]))
  const originals = new Map(
    fresh.flatMap((server) => {
      const original = getOriginal(server, config, previous)
      if (original !== undefined && servers.has(getName(server))) return [[getName(server), original] as const]
      return []
    }),
  )
  return {
    moved: fresh.map((server) => ({ name: server.source.name, to: getName(server), entry: server.entry })),
    servers,
    originals: new Map([...servers].map(([name, definition]) => [name, originals.get(name) ?? definition])),
    returned: new Set(fresh.flatMap(({ before }) => before?.to ?? [])),
    carried: new Set(fresh.flatMap((server) => (servers.has(getName(server)) ? (server.before?.to ?? []) : []))),
    notes: merged.flatMap(({ name, notes }) => notes.map((note) => `${name}: ${note}`)),
  }
}

async function listReadable(request: MoveRequest, context: MoveContext): Promise<readonly Readable[]> {
  const { client, scope, where, name } = request
  const { root, entries, earlier } = context
  const findSwitch = await readSwitches(client, scope === 'project' ? ['user', 'project'] : [scope], where)
  const origin = getOrigin(root, { client, scope, where })
  const moved = groupByName(earlier?.moved ?? [])
  return [...entries].flatMap(([key, entry]) => {
    const read = readEntry(entry, origin)
    if (key === name || 'reason' in read || isFoldout(read.definition)) return []
    const before = moved.get(key)?.find((server) => isSameEntry(entry, server.entry))
    const source = { client: client.name, file: '', name: key }
    return [{ entry, before, source, scope, ...switchOff(read, findSwitch(key, scope)) }]
  })
}

/** Several servers with one name may have been moved one after the other. */
export function groupByName(moved: readonly MovedServer[]): ReadonlyMap<string, readonly MovedServer[]> {
  const groups = new Map<string, MovedServer[]>()
  for (const server of moved) {
    const group = groups.get(server.name)
    if (group) group.push(server)
    else groups.set(server.name, [server])
  }
  return groups
}

async function readPrevious(file: string, state: State): Promise<Previous> {
  return { file, servers: await readConfigServers(file), record: await state.configs.read(file) }
}

/** What to write: the definition of the previous configuration, which someone may have changed, or that of the client. */
function getDefinition({ before, definition }: Readable, config: string, previous?: Previous): ServerDefinition {
  const current = before && previous?.servers.get(before.to)
  return toWritten(current && previous ? toPortable(current, previous.file) : definition, config)
}

/** What the definition is compared with later, to find out whether someone has changed it. */
function getOriginal({ before }: Readable, config: string, previous?: Previous): ServerDefinition | undefined {
  const recorded = previous?.record?.servers.find(({ name }) => name === before?.to)
  if (!previous || !recorded || !isObject(recorded.definition)) return undefined
  return toWritten(toPortable(recorded.definition, previous.file), config)
}
