import { isDeepStrictEqual } from 'node:util'
import type { ServerDefinition } from '../../gateway/config/definition.ts'
import { isNewConfig } from '../../gateway/config/own-entry.ts'
import { checkWritable, findFile, removeFile, replaceFile, type FoundFile } from '../files.ts'
import { hashText } from '../../shared/hash.ts'
import { changeConfig, cutServers, readConfigServers, refuseShared, type ConfigChange } from '../gateway-config.ts'
import type { AddedServer, ConfigRecord, State } from '../state.ts'

/** What an installation adds to a configuration. */
export interface Addition {
  /** The client's file. */
  readonly owner: string
  /** The servers to write. */
  readonly servers: ReadonlyMap<string, ServerDefinition>
  /** The same servers as the client had them, which is what they are compared with later. */
  readonly originals: ReadonlyMap<string, unknown>
  /** The names of all servers that were moved from the client, including those that the configuration already has. */
  readonly moved: readonly string[]
}

/** Takes back an addition to a configuration. */
export type UndoAddition = () => Promise<void>

/**
 * Adds servers to a configuration, or creates it, and records that.
 *
 * @throws Error if that fails. Then nothing has changed.
 */
export async function addToConfig(config: string, addition: Addition, state: State): Promise<UndoAddition> {
  const { owner, servers, originals, moved } = addition
  return state.withLock(config, async () => {
    const found = await findFile(config)
    const isEnough = found.text !== undefined && servers.size === 0
    await refuseShared(config, servers)
    const change = isEnough ? null : await changeConfig(config, servers, state)
    const known = found.text === undefined ? undefined : await state.configs.read(found.path)
    if (!change && !known) return async () => undefined
    const undo = (): Promise<void> => undoAddition(found, { change, known }, state)
    const added = [...originals].map(([name, definition]): AddedServer => ({ name, definition, owners: [] }))
    const own = new Set(moved)
    const all = [...(known?.servers ?? []).filter(({ name }) => !originals.has(name)), ...added]
    const record = {
      ...(await describeTexts(found, change?.after, known)),
      file: found.path,
      createdFolders: known?.createdFolders ?? change?.createdFolders ?? [],
      servers: all.map((server) => (own.has(server.name) ? addOwner(server, owner) : server)),
    }
    await state.configs.write(record).catch(async (error: unknown) => {
      await undo()
      throw error
    })
    return () => state.withLock(config, undo)
  })
}

interface Added {
  readonly change: ConfigChange | null
  /** The record before. */
  readonly known: ConfigRecord | undefined
}

/** What someone else has written to the configuration in the meantime stays. */
async function undoAddition({ path, mode }: FoundFile, { change, known }: Added, state: State): Promise<void> {
  const { text } = await findFile(path)
  if (change && text === change.after) {
    if (change.before === null) await removeFile(path, change.createdFolders)
    else await replaceFile({ path, mode, text }, change.before)
  }
  if (known) await state.configs.write(known)
  else await state.configs.remove(path)
}

function addOwner(server: AddedServer, owner: string): AddedServer {
  return { ...server, owners: [...new Set([...server.owners, owner])] }
}

/** The text to go back to, and the one to go back from. What someone else has changed in the meantime must survive. */
async function describeTexts(
  { path, text }: FoundFile,
  after: string | undefined,
  known: ConfigRecord | undefined,
): Promise<Pick<ConfigRecord, 'before' | 'after'>> {
  const next = hashText(after ?? text ?? '')
  if (text === undefined || !known) return { before: text ?? null, after: next }
  if (hashText(text) === known.after) return { before: known.before, after: next }
  const names = known.servers.map(({ name }) => name)
  const before = await cutServers(text, path, names)
  return { before: known.before === null && isNewConfig(before) ? null : before, after: next }
}

/** A client that stops using a configuration. */
export interface Leaving {
  /** The client's file. */
  readonly owner: string
  /** The servers that the client has again. */
  readonly returned: ReadonlySet<string>
  /** The servers that are now, exactly as they are, in another configuration. */
  readonly carried?: ReadonlySet<string>
  readonly isDryRun?: boolean
}

/** What becomes of a configuration when a client stops using it. */
export interface ConfigRelease {
  readonly file: string
  /** `restored` if the file is byte for byte what it was before, `removed` if there was none. */
  readonly status: 'unchanged' | 'edited' | 'restored' | 'removed'
  /** The servers that are removed from it. */
  readonly removed: readonly string[]
  /** Servers that stay, because someone has changed them since they were moved. */
  readonly changed: readonly string[]
  /** Servers that stay, because a client has not got them back. */
  readonly unreturned: readonly string[]
  /** The clients that still use the configuration. It is not changed as long as there are any. */
  readonly usedBy: readonly string[]
}

/**
 * Removes what installations added to a configuration, once no client uses it. Undefined if they added nothing.
 *
 * @throws Error if the configuration does not parse or cannot be written. Then nothing has changed.
 */
export async function releaseConfig(
  config: string,
  leaving: Leaving,
  state: State,
): Promise<ConfigRelease | undefined> {
  if (leaving.isDryRun) return (await planRelease(config, leaving, state))?.release
  return state.withLock(config, async () => {
    const plan = await planRelease(config, leaving, state)
    if (plan) await applyRelease(plan, state)
    return plan?.release
  })
}

interface ReleasePlan {
  readonly record: ConfigRecord
  readonly release: ConfigRelease
  readonly found: FoundFile
  /** The new text; undefined for no file. */
  readonly text: string | undefined
  /** The servers that are still recorded afterwards. */
  readonly servers: readonly AddedServer[]
}

async function planRelease(file: string, leaving: Leaving, state: State): Promise<ReleasePlan | undefined> {
  const record = await state.configs.read(file)
  if (!record) return undefined
  const { owner, returned, carried = new Set() } = leaving
  const found = await findFile(file)
  const present = await readConfigServers(file)
  const servers = record.servers
    .filter(({ name }) => present.has(name))
    .map((server) =>
      returned.has(server.name) ? { ...server, owners: server.owners.filter((one) => one !== owner) } : server,
    )
  const receipts = await state.receipts.list()
  const usedBy = receipts.filter((other) => other.config === file && other.file !== owner).map(({ client }) => client)
  const isChanged = ({ name, definition }: AddedServer): boolean =>
    !carried.has(name) && !isDeepStrictEqual(present.get(name), definition)
  const isFree = ({ owners }: AddedServer): boolean => owners.length === 0
  if (usedBy.length > 0) {
    const changed = servers.filter((server) => returned.has(server.name) && isChanged(server))
    const release = { file, status: 'unchanged', removed: [], unreturned: [], usedBy } as const
    return { record, release: { ...release, changed: toNames(changed) }, found, text: found.text, servers }
  }
  const isRemoved = (server: AddedServer): boolean => isFree(server) && !isChanged(server)
  const removed = servers.filter(isRemoved)
  const rest = servers.filter((server) => !isRemoved(server))
  const { text, status } = await planText(record, found, { removed: toNames(removed), isAll: rest.length === 0 })
  if (text !== found.text) checkWritable(found)
  const release = {
    file,
    status,
    removed: toNames(removed),
    changed: toNames(rest.filter(isFree)),
    unreturned: toNames(rest.filter((server) => !isFree(server))),
    usedBy,
  }
  return { record, release, found, text, servers: rest.filter((server) => !isFree(server)) }
}

async function planText(
  { file, before, after }: ConfigRecord,
  { text }: FoundFile,
  { removed, isAll }: { readonly removed: readonly string[]; readonly isAll: boolean },
): Promise<{ readonly text: string | undefined; readonly status: ConfigRelease['status'] }> {
  if (text === undefined) return { text, status: 'unchanged' }
  if (isAll && hashText(text) === after)
    return { text: before ?? undefined, status: before === null ? 'removed' : 'restored' }
  const next = await cutServers(text, file, removed)
  if (before === null && isNewConfig(next)) return { text: undefined, status: 'removed' }
  return { text: next, status: next === text ? 'unchanged' : 'edited' }
}

async function applyRelease({ record, release, found, text, servers }: ReleasePlan, state: State): Promise<void> {
  if (text !== found.text) {
    await state.keepBackup(found)
    if (text === undefined) await removeFile(found.path, record.createdFolders)
    else await replaceFile(found, text)
  }
  if (release.usedBy.length > 0) await state.configs.write({ ...record, servers })
  else if (servers.length > 0 && text !== undefined)
    await state.configs.write({ ...record, before: text, after: '', servers })
  else await state.configs.remove(record.file)
}

function toNames(servers: readonly AddedServer[]): readonly string[] {
  return servers.map(({ name }) => name)
}
