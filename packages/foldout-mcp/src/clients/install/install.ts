import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { UsageError } from '../../gateway/config/config.ts'
import { isCode, readGatewayConfig, type CheckText } from '../../gateway/config/read-config.ts'
import { readTextFile } from '../../gateway/config/text-file.ts'
import type { ClientDescription, Scope, ServerMap } from '../client.ts'
import { type Format } from '../documents/format.ts'
import { isObject } from 'foldout-shared/values'
import { applyChanges, getAt, getEntries, loadFormat } from '../documents/document.ts'
import { createEntry, createLaunch, startsFoldout, type Launch } from '../entries.ts'
import {
  checkFolder,
  checkWritable,
  findFile,
  followLinks,
  listMissingFolders,
  replaceFile,
  requireInside,
  type FoundFile,
} from '../files.ts'
import { findConfigFile } from '../gateway-config.ts'
import { groupByName, planMove, type Move } from './move.ts'
import { findOwnCommand, runOwnCommand, type OwnCommandLine } from './own-command.ts'
import { getStateFolder, listOwnFiles, type Whereabouts } from '../places.ts'
import { chooseInstalledFile } from './installed-file.ts'
import { addToConfig, releaseConfig, type ConfigRelease, type UndoAddition } from './release.ts'
import { createState, type Receipt, type State } from '../state.ts'
import { isSameEntry, undoInstallation } from './undo.ts'

export interface InstallRequest {
  readonly client: ClientDescription
  readonly scope: Scope
  readonly where: Whereabouts
  /** The gateway's name in the client. */
  readonly name: string
  /** The exact version to start. */
  readonly version: string
  readonly config?: string | undefined
  /** Checks what was found in the project, before a client gets to use it: a configuration, or servers that move into it. */
  readonly check?: CheckText | undefined
  /** Reports what would change, and changes nothing. */
  readonly isDryRun?: boolean
  /** Whether to move the client's other servers into the gateway's configuration. Those that were moved before stay there. */
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
  /** The servers that were moved, now or by an earlier installation, with their names in the configuration. */
  readonly moved: readonly { readonly from: string; readonly to: string; readonly isNew: boolean }[]
  /** The servers that the client still starts itself although the gateway could serve them. */
  readonly left: readonly string[]
  /** What becomes of the configuration that the client used before. */
  readonly released: ConfigRelease | undefined
  readonly notes: readonly string[]
}

/**
 * Installs the gateway in a client.
 *
 * @throws Error if the client's file does not parse or cannot be written. Then nothing has changed.
 */
export async function installGateway(request: InstallRequest): Promise<InstallResult> {
  const state = createState(getStateFolder(request.where))
  const file = await chooseInstalledFile(request, state)
  const config = await chooseConfig(request, file)
  if (request.isDryRun) return applyPlan(await createPlan(request, { file, config }, state), request, state)
  const path = await followLinks(file)
  checkFolder(dirname(path))
  return state.withLock(path, async () => applyPlan(await createPlan(request, { file, config }, state), request, state))
}

/**
 * The configuration to serve.
 *
 * @throws UsageError if the gateway cannot read it, or if it is the client's own file: the gateway cannot be a server of itself.
 */
export async function chooseConfig(
  { client, config: named, where, check }: Pick<InstallRequest, 'client' | 'config' | 'where' | 'check'>,
  file: string,
): Promise<string> {
  const config = findConfigFile(named, where.project, file)
  if ((await followLinks(config)) === (await followLinks(file)))
    throw new UsageError(
      `${config} is the file of ${client.title} itself, so the gateway would have to start itself. Name another configuration: --config <file>.`,
    )
  if (!existsSync(config)) return config
  if (named === undefined) {
    await refuseTwice(client, config, where)
    await check?.(config, await readTextFile(config))
  }
  // Code is not run to check it.
  if (!isCode(config)) await readGatewayConfig([config])
  return config
}

/** A client that reads the project's file itself would have every server of it twice. */
async function refuseTwice(client: ClientDescription, config: string, where: Whereabouts): Promise<void> {
  const own = await Promise.all(listOwnFiles(client, 'project', where).map((file) => followLinks(file)))
  if (!own.includes(await followLinks(config))) return
  throw new UsageError(
    `${client.title} reads ${config} itself, so it would have every server twice. To move its servers into the gateway: foldout install ${client.name} --project --move. To serve another configuration: --config <file>.`,
  )
}

/** The files of an installation. */
interface Files {
  readonly file: string
  readonly config: string
}

/** What an installation changes. */
interface Plan extends Files {
  readonly found: FoundFile
  /** The text without the gateway; undefined if there would be no file. */
  readonly base: string | undefined
  readonly text: string
  readonly format: Format
  readonly map: ServerMap
  readonly entry: Readonly<Record<string, unknown>>
  readonly launch: Launch
  readonly move: Move
  readonly receipt: Receipt | undefined
}

async function createPlan(request: InstallRequest, { file, config }: Files, state: State): Promise<Plan> {
  const { client, where, name, version } = request
  const found = await findFile(file)
  checkFolder(dirname(found.path))
  checkWritable(found)
  const format = await loadFormat(client.format)
  const receipt = await state.receipts.read(found.path)
  try {
    format.parse(found.text ?? '')
    // An earlier installation is undone first, so that one uninstall always restores the original.
    const undone = receipt && undoInstallation(found.text, receipt, format, client.initial)
    const base = undone ? undone.text : found.text
    const root = format.parse(base ?? '')
    const map = client.maps.findLast(({ path }) => isObject(getAt(root, path))) ??
      client.maps[0] ?? { path: [], shape: {} }
    const entries = getEntries(root, map.path, map.isList) ?? new Map<string, unknown>()
    checkName(name, entries.get(name), client)
    const earlier = receipt && { ...receipt, taken: undone?.taken ?? [] }
    const move = await planMove(request, { root, entries, config, earlier, state })
    await checkProject(request, { found, config, move })
    const launch = createLaunch(version, config, where.platform)
    const entry = createEntry(name, launch, map.shape)
    const changes = [{ name, value: entry }, ...move.moved.map((server) => ({ name: server.name, value: undefined }))]
    const text = applyChanges(format, base ?? client.initial ?? '', map, changes)
    return { file, config, found, base, text, format, map, entry, launch, move, receipt }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} was not changed: ${(error as Error).message}.`, { cause: error })
  }
}

/** Checks what comes from a project: links that lead out of it, and servers that the gateway would start. */
async function checkProject(
  { scope, where, config: named, isDryRun, check }: InstallRequest,
  { found, config, move }: Pick<Plan, 'found' | 'config' | 'move'>,
): Promise<void> {
  const isMoving = move.servers.size > 0
  if (scope === 'project') await requireInside(found.path, where.project)
  if (named === undefined && (isMoving || !existsSync(config))) await requireInside(config, where.project)
  // What is only shown needs no trust.
  if (scope === 'project' && isMoving && !isDryRun) await check?.(found.path, found.text ?? '')
}

function checkName(name: string, entry: unknown, client: ClientDescription): void {
  if (entry === undefined || startsFoldout(entry)) return
  throw new UsageError(
    `${client.title} already has another server called '${name}'. Choose a different name: --name <name>.`,
  )
}

async function applyPlan(plan: Plan, request: InstallRequest, state: State): Promise<InstallResult> {
  const { client, name, scope, where, isDryRun = false, isEdit = false } = request
  const { file, found, text, entry, launch, config, move } = plan
  const canUseOwn = !isEdit && move.moved.length === 0
  const own = (canUseOwn && findOwnCommand(client, { name, scope, entry, launch }, where)) || undefined
  const result = {
    client: client.name,
    file,
    name,
    entry,
    config,
    backup: undefined,
    by: own ? ('command' as const) : ('file' as const),
    moved: describeMoved(move, plan.receipt),
    left: move.left,
    released: undefined,
    notes: [...move.notes, client.note ?? []].flat(),
  }
  const isComplete = text === found.text && move.servers.size === 0 && existsSync(config)
  if (isComplete) return { ...result, status: 'unchanged', by: 'file' }
  // Fails before anything is changed if the other configuration cannot be changed.
  const planned = await releaseOther(plan, state, true)
  if (isDryRun) return { ...result, status: 'planned', released: planned }
  const undo = await prepareConfig(plan, state)
  const { backup, by, failure } = await changeClient(plan, own, { request, state }).catch((error: unknown) =>
    takeBack(plan, undo, error as Error),
  )
  if (failure !== undefined) result.notes.push(`Its own command failed (${failure}), so the file was edited instead.`)
  return { ...result, backup, by, released: await releaseOther(plan, state, false), status: 'installed' }
}

function describeMoved({ moved }: Move, receipt: Receipt | undefined): InstallResult['moved'] {
  const before = groupByName(receipt?.moved ?? [])
  return moved.map(({ name, to, entry }) => ({
    from: name,
    to,
    isNew: !before.get(name)?.some((server) => isSameEntry(entry, server.entry)),
  }))
}

/** Writes the moved servers to the new file before removing them from the old one. */
async function prepareConfig({ config, found, move }: Plan, state: State): Promise<UndoAddition> {
  const { servers, originals, moved } = move
  return addToConfig(config, { owner: found.path, servers, originals, moved: moved.map(({ to }) => to) }, state)
}

/** A client that still has its servers must not share them, and their secrets, with the configuration. */
async function takeBack({ config, move }: Plan, undo: UndoAddition, error: Error): Promise<never> {
  try {
    await undo()
  } catch {
    const names = [...move.servers.keys()].join(', ')
    if (names === '') throw error
    throw new Error(`${error.message} ${config} could not be restored either: remove ${names} from it.`, {
      cause: error,
    })
  }
  throw error
}

interface ClientChange {
  readonly backup: string | undefined
  readonly by: InstallResult['by']
  /** Why the client's own command failed. */
  readonly failure: string | undefined
}

async function changeClient(plan: Plan, own: OwnCommandLine | undefined, step: Step): Promise<ClientChange> {
  const backup = await step.state.keepBackup(plan.found)
  const failure = own && (await installByCommand(plan, own, step))
  if (own && failure === undefined) return { backup, by: 'command', failure }
  await installByFile(plan, step)
  return { backup, by: 'file', failure }
}

/** Leaves the configuration that the client used before, if that is another one. */
async function releaseOther(
  { config, found, receipt, move }: Plan,
  state: State,
  isDryRun: boolean,
): Promise<ConfigRelease | undefined> {
  if (!receipt || receipt.config === (await followLinks(config))) return undefined
  const { returned, carried } = move
  return releaseConfig(receipt.config, { owner: found.path, returned, carried, isDryRun }, state)
}

interface Step {
  readonly request: InstallRequest
  readonly state: State
}

async function installByFile(plan: Plan, { request, state }: Step): Promise<void> {
  const { found, text, receipt } = plan
  const missing = listMissingFolders(dirname(found.path))
  const createdFolders = missing.length > 0 ? missing : (receipt?.createdFolders ?? [])
  // Written first, so that an interrupted installation can still be undone.
  await state.receipts.write(await toReceipt(plan, request, { after: text, createdFolders }))
  try {
    await replaceFile(found, text)
  } catch (error) {
    if (receipt) await state.receipts.write(receipt)
    else await state.receipts.remove(found.path)
    throw error
  }
}

/** Returns why it failed; undefined if it worked. */
async function installByCommand(plan: Plan, own: OwnCommandLine, step: Step): Promise<string | undefined> {
  const { found, base, format, map, entry, receipt } = plan
  const { request, state } = step
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
  await state.receipts.write(await toReceipt(plan, request, { after: text, createdFolders }))
  return undefined
}

async function toReceipt(
  { found, base, format, map, move, config }: Plan,
  { client, name }: InstallRequest,
  rest: Pick<Receipt, 'after' | 'createdFolders'>,
): Promise<Receipt> {
  return {
    client: client.name,
    file: found.path,
    name,
    path: map.path,
    isList: map.isList ?? false,
    isNewContainer: getAt(format.parse(base ?? ''), map.path) === undefined,
    before: base ?? null,
    moved: [...move.moved, ...move.waiting],
    config: await followLinks(config),
    ...rest,
  }
}
