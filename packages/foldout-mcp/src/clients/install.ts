import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { UsageError } from '../gateway/config/config.ts'
import type { ServerDefinition } from '../gateway/config/definition.ts'
import type { ClientDescription, Scope, ServerMap } from './client.ts'
import { mergeServers } from './collect.ts'
import { applyChange, getAt, getEntries, isObject, loadFormat, type Format } from './documents/document.ts'
import { createEntry, createLaunch, getOrigin, isFoldout, readEntry, startsFoldout, type Launch } from './entries.ts'
import {
  checkFolder,
  checkWritable,
  findFile,
  hashText,
  listMissingFolders,
  replaceFile,
  type FoundFile,
} from './files.ts'
import { changeConfig, findConfigFile, readConfigServers } from './gateway-config.ts'
import { findOwnCommand, runOwnCommand, type OwnCommandLine } from './own-command.ts'
import { chooseFile, getStateFolder, type Whereabouts } from './places.ts'
import { createState, type ConfigChange, type Receipt, type State } from './state.ts'
import { undoChanges } from './uninstall.ts'

export interface InstallRequest {
  readonly client: ClientDescription
  readonly scope: Scope
  readonly where: Whereabouts
  /** The gateway's name in the client. */
  readonly name: string
  /** The exact version to start. */
  readonly version: string
  readonly config?: string | undefined
  /** Reports what would change, and changes nothing. */
  readonly isDryRun?: boolean
  /** Whether to move the client's other servers into the gateway's configuration. */
  readonly isMove?: boolean
  /** Whether to edit the file even if the client has its own command. */
  readonly isEdit?: boolean
}

export interface InstallResult {
  readonly client: string
  readonly file: string
  readonly name: string
  readonly status: 'installed' | 'unchanged' | 'planned'
  readonly by: 'file' | 'command'
  readonly entry: Readonly<Record<string, unknown>>
  readonly config: string
  readonly backup: string | undefined
  /** The servers that were moved, with their new names. */
  readonly moved: readonly { readonly from: string; readonly to: string }[]
  /** The servers that the client still starts itself although the gateway could serve them. */
  readonly left: readonly string[]
  readonly notes: readonly string[]
}

/**
 * Installs the gateway in a client.
 *
 * @throws Error if the client's file does not parse or cannot be written. Then nothing has changed.
 */
export async function installGateway(request: InstallRequest): Promise<InstallResult> {
  const { client, scope, where } = request
  const file = chooseFile(client, scope, where)
  if (file === undefined) throw new UsageError(`${client.title} has no per-project configuration.`)
  const state = createState(getStateFolder(where))
  if (request.isDryRun) return applyPlan(await createPlan(request, file, state), request, state)
  const { path } = await findFile(file)
  return state.withLock(path, async () => applyPlan(await createPlan(request, file, state), request, state))
}

/** What an installation changes. */
interface Plan {
  readonly file: string
  readonly found: FoundFile
  /** The text without the gateway; undefined if there would be no file. */
  readonly base: string | undefined
  readonly text: string
  readonly format: Format
  readonly map: ServerMap
  readonly entry: Readonly<Record<string, unknown>>
  readonly launch: Launch
  readonly config: string
  readonly moved: readonly (readonly [string, unknown])[]
  readonly left: readonly string[]
  /** The moved servers, by their names in the configuration. */
  readonly names: ReadonlyMap<string, string>
  readonly servers: ReadonlyMap<string, ServerDefinition>
  readonly receipt: Receipt | undefined
  readonly notes: readonly string[]
}

async function createPlan(request: InstallRequest, file: string, state: State): Promise<Plan> {
  const { client, where, name, version } = request
  const found = await findFile(file)
  checkFolder(dirname(found.path))
  checkWritable(found)
  const format = await loadFormat(client.format)
  const receipt = await state.readReceipt(found.path)
  const config = findConfigFile(request.config, where.project, file)
  try {
    format.parse(found.text ?? '')
    // An earlier installation is undone first, so that one uninstall always restores the original.
    const base = receipt && found.text !== undefined ? undoChanges(found.text, receipt, format) : found.text
    const root = format.parse(base ?? '')
    const map = client.maps.findLast(({ path }) => isObject(getAt(root, path))) ??
      client.maps[0] ?? { path: [], shape: {} }
    const entries = getEntries(root, map.path, map.isList) ?? new Map<string, unknown>()
    checkName(name, entries.get(name), client)
    const { moved, left, servers, names, notes } = await planMove(request, root, entries, config)
    const launch = createLaunch(version, config, where.platform)
    const entry = createEntry(name, launch, map.shape)
    const changes = [[name, entry] as const, ...moved.map(([other]) => [other, undefined] as const)]
    const text = changes.reduce(
      (next, [key, value]) =>
        applyChange(format, next, { path: map.path, isList: map.isList ?? false, name: key, value }),
      base ?? client.initial ?? '',
    )
    const changed = { file, found, base, text, format, map, entry }
    return { ...changed, launch, config, moved, left, names, servers, receipt, notes }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} was not changed: ${(error as Error).message}.`, { cause: error })
  }
}

function checkName(name: string, entry: unknown, client: ClientDescription): void {
  if (entry === undefined || startsFoldout(entry)) return
  throw new UsageError(
    `${client.title} already has another server called '${name}'. Choose a different name: --name <name>.`,
  )
}

interface Move {
  readonly moved: Plan['moved']
  readonly left: Plan['left']
  readonly servers: Plan['servers']
  readonly names: Plan['names']
  readonly notes: readonly string[]
}

/** The servers to move into the gateway. Servers that it cannot serve stay with the client. */
async function planMove(
  { client, scope, where, name, isMove = false }: InstallRequest,
  root: unknown,
  entries: ReadonlyMap<string, unknown>,
  config: string,
): Promise<Move> {
  const origin = getOrigin(root, scope, where)
  const readable = [...entries].flatMap(([key, entry]) => {
    const read = readEntry(entry, origin)
    if (key === name || 'reason' in read || isFoldout(read.definition)) return []
    return [{ key, entry, source: { client: client.name, file: '', name: key }, ...read }]
  })
  if (!isMove)
    return { moved: [], left: readable.map(({ key }) => key), servers: new Map(), names: new Map(), notes: [] }
  const known = await readConfigServers(config)
  const merged = mergeServers(readable, known)
  const added = merged.filter(({ isKnown }) => !isKnown)
  return {
    moved: readable.map(({ key, entry }) => [key, entry] as const),
    left: [],
    servers: new Map(added.map((server) => [server.name, server.definition])),
    names: new Map(merged.flatMap((server) => server.sources.map((source) => [source.name, server.name] as const))),
    notes: merged.flatMap((server) => server.notes.map((note) => `${server.name}: ${note}`)),
  }
}

async function applyPlan(plan: Plan, request: InstallRequest, state: State): Promise<InstallResult> {
  const { client, name, scope, where, isDryRun = false, isEdit = false, isMove = false } = request
  const { file, found, text, entry, launch, config, moved, names } = plan
  const canUseOwn = !isEdit && !isMove
  const own = (canUseOwn && findOwnCommand(client, { name, scope, entry, launch }, where)) || undefined
  const result = {
    client: client.name,
    file,
    name,
    entry,
    config,
    backup: undefined,
    by: own ? ('command' as const) : ('file' as const),
    moved: moved.map(([from]) => ({ from, to: names.get(from) ?? from })),
    left: plan.left,
    notes: [...plan.notes, client.note ?? []].flat(),
  }
  if (text === found.text) return { ...result, status: 'unchanged', by: 'file' }
  if (isDryRun) return { ...result, status: 'planned' }
  const configChange = await prepareConfig(plan, state)
  const backup = await state.keepBackup(found)
  const failure = own && (await installByCommand(plan, own, { request, state, configChange }))
  if (own && failure === undefined) return { ...result, backup, status: 'installed' }
  await installByFile(plan, { request, state, configChange })
  if (failure !== undefined) result.notes.push(`The client's own command failed: ${failure}`)
  return { ...result, backup, by: 'file', status: 'installed' }
}

/** Writes the moved servers to the new file before removing them from the old one. */
async function prepareConfig({ config, servers, receipt }: Plan, state: State): Promise<ConfigChange | null> {
  const change = await state.withLock(config, async () => {
    const { text } = await findFile(config)
    const isEnough = text !== undefined && servers.size === 0
    if (isEnough) return null
    return changeConfig(config, servers, state)
  })
  const before = (receipt?.config === config && receipt.configChange) || null
  if (!before || !change) return change ?? before
  const added = [...before.added, ...change.added]
  // A change that someone else made in the meantime must survive.
  const isUntouched = change.before !== null && hashText(change.before) === before.after
  if (isUntouched) return { ...before, after: change.after, added }
  return { ...change, added }
}

interface Step {
  readonly request: InstallRequest
  readonly state: State
  readonly configChange: ConfigChange | null
}

async function installByFile(plan: Plan, { request, state, configChange }: Step): Promise<void> {
  const { found, text, receipt } = plan
  const next = toReceipt(plan, request, {
    after: hashText(text),
    configChange,
    createdFolders: receipt?.createdFolders ?? [],
  })
  // Written first, so that an interrupted installation can still be undone.
  await state.writeReceipt(next)
  try {
    const created = await replaceFile(found, text)
    if (created.length > 0) await state.writeReceipt({ ...next, createdFolders: created })
  } catch (error) {
    if (receipt) await state.writeReceipt(receipt)
    else await state.removeReceipt(found.path)
    throw error
  }
}

/** Returns why it failed; undefined if it worked. */
async function installByCommand(plan: Plan, own: OwnCommandLine, step: Step): Promise<string | undefined> {
  const { found, base, format, map, entry, receipt } = plan
  const { request, state, configChange } = step
  // Clients refuse to add a server twice.
  if (receipt && base !== undefined && base !== found.text) await replaceFile(found, base)
  const missing = listMissingFolders(dirname(found.path))
  const failure = await runOwnCommand(own, request.where)
  if (failure !== undefined) return failure
  const { text } = await findFile(plan.file)
  const after = getEntries(format.parse(text ?? ''), map.path, map.isList)?.get(request.name)
  if (text === undefined || !isObject(after) || !isDeepStrictEqual(after['args'], entry['args']))
    return 'the server is not in its file'
  const createdFolders = [...(receipt?.createdFolders ?? []), ...missing]
  await state.writeReceipt(toReceipt(plan, request, { after: hashText(text), configChange, createdFolders }))
  return undefined
}

function toReceipt(
  { found, base, format, map, moved, config }: Plan,
  { client, name }: InstallRequest,
  rest: Pick<Receipt, 'after' | 'configChange' | 'createdFolders'>,
): Receipt {
  return {
    client: client.name,
    file: found.path,
    name,
    path: map.path,
    isList: map.isList ?? false,
    isNewContainer: getAt(format.parse(base ?? ''), map.path) === undefined,
    before: base ?? null,
    moved,
    config,
    ...rest,
  }
}
