import { dirname } from 'node:path'
import type { ClientDescription, Scope } from '../client.ts'
import { type Format, type Path } from '../documents/format.ts'
import { applyChange, getEntries, loadFormat } from '../documents/document.ts'
import { UsageError } from '../../gateway/config/config.ts'
import { readEntry, startsFoldout } from '../entries.ts'
import { checkFolder, checkWritable, findFile, removeFile, replaceFile, type FoundFile } from '../files.ts'
import { readConfigServers } from '../gateway-config.ts'
import { chooseInstalledFile } from './installed-file.ts'
import { getStateFolder, type Whereabouts } from '../places.ts'
import { releaseConfig, type ConfigRelease } from './release.ts'
import { createState, type Receipt, type State } from '../state.ts'
import { undoInstallation, type Undone } from './undo.ts'

export interface UninstallRequest {
  readonly client: ClientDescription
  readonly scope: Scope
  readonly where: Whereabouts
  readonly isDryRun?: boolean
}

export interface UninstallResult {
  readonly client: string
  readonly file: string
  /**
   * `restored` if the file is byte for byte what it was before, `edited` if it had been changed since, `recreated` if it
   * had been deleted, `returned` if only the moved servers were missing, and `gone` if it no longer had the gateway.
   */
  readonly status: 'restored' | 'edited' | 'recreated' | 'returned' | 'gone' | 'absent' | 'planned'
  readonly backup: string | undefined
  /** The servers that were restored. */
  readonly returned: readonly string[]
  /** The moved servers that could not be restored, because the client has others with their names. */
  readonly taken: readonly string[]
  /** The entries that still start the gateway, because they did so before the installation. */
  readonly remaining: readonly string[]
  /** What became of the gateway's configuration. */
  readonly released: ConfigRelease | undefined
  /** Without a record of the installation: the servers in configurations of the gateway that may come from the client. */
  readonly lost: readonly { readonly config: string; readonly servers: readonly string[] }[]
}

/**
 * Removes the gateway from a client, and restores what its installation moved.
 *
 * @throws UsageError if a file does not parse or cannot be written. Then nothing has changed.
 */
export async function uninstallGateway(request: UninstallRequest): Promise<UninstallResult> {
  const state = createState(getStateFolder(request.where))
  const file = await chooseInstalledFile(request, state)
  if (request.isDryRun) return uninstall(request, file, state)
  return state.withLock(file, () => uninstall(request, file, state))
}

async function uninstall(request: UninstallRequest, file: string, state: State): Promise<UninstallResult> {
  const { client, isDryRun = false } = request
  const found = await findFile(file)
  const format = await loadFormat(client.format)
  const receipt = await state.receipts.read(found.path)
  const { text, present, ...removal } = planRemoval(found, file, () =>
    receipt ? undo(found.text, receipt, client, format) : cutGateways(found.text, client, format),
  )
  const lost = receipt ? [] : await findLost(found, client, format, state)
  const result = { client: client.name, file, ...removal, backup: undefined, released: undefined, lost }
  if (result.status === 'absent') return result
  if (text !== found.text) {
    checkFolder(dirname(found.path))
    checkWritable(found)
  }
  // Fails before anything is changed if the configuration cannot be changed.
  const leaving = { owner: found.path, returned: new Set(present) }
  const release = async (isPlan: boolean): Promise<ConfigRelease | undefined> =>
    receipt && releaseConfig(receipt.config, { ...leaving, isDryRun: isPlan }, state)
  const planned = await release(true)
  if (isDryRun) return { ...result, status: 'planned', released: planned }
  const backup = await state.keepBackup(found)
  if (text === undefined) await removeFile(found.path, receipt?.createdFolders)
  else if (text !== found.text) await replaceFile(found, text)
  const released = await release(false)
  await state.receipts.remove(found.path)
  return { ...result, backup, released }
}

/** What to do to the client's file. */
interface Removal extends Pick<UninstallResult, 'status' | 'returned' | 'taken' | 'remaining'> {
  /** The new text; undefined for no file. */
  readonly text: string | undefined
  /** The moved servers that the client has then, by their names in the configuration. */
  readonly present: readonly string[]
}

function planRemoval(found: FoundFile, file: string, plan: () => Removal): Removal {
  try {
    return plan()
  } catch (error) {
    checkWritable(found)
    throw new UsageError(`${file} was not changed: ${(error as Error).message}.`, { cause: error })
  }
}

function undo(current: string | undefined, receipt: Receipt, client: ClientDescription, format: Format): Removal {
  const undone = undoInstallation(current, receipt, format, client.initial)
  return {
    text: undone.text,
    present: undone.present.map(({ to }) => to),
    status: getStatus(current, receipt, undone),
    returned: undone.returned.map(({ name }) => name),
    taken: undone.taken.map(({ name }) => name),
    remaining: listGateways(undone.text, client, format).map(({ name }) => name),
  }
}

function getStatus(current: string | undefined, { after }: Receipt, undone: Undone): UninstallResult['status'] {
  if (current === after) return 'restored'
  if (undone.hadGateway) return 'edited'
  if (undone.returned.length === 0) return 'gone'
  if (current === undefined) return 'recreated'
  return 'returned'
}

/** Without a receipt, removes every entry that starts the gateway. */
function cutGateways(current: string | undefined, client: ClientDescription, format: Format): Removal {
  const gateways = listGateways(current, client, format)
  const text = gateways.reduce(
    (next, { path, isList, name }) => applyChange(format, next, { path, isList, name, value: undefined }),
    current ?? '',
  )
  const nothing = { present: [], returned: [], taken: [], remaining: [] }
  if (gateways.length === 0) return { ...nothing, text: current, status: 'absent' }
  return { ...nothing, text, status: 'edited' }
}

interface Gateway {
  readonly path: Path
  readonly isList: boolean
  readonly name: string
  readonly entry: unknown
}

/** The entries of a client that start the gateway. */
function listGateways(text: string | undefined, { maps }: ClientDescription, format: Format): readonly Gateway[] {
  const root = format.parse(text ?? '')
  return maps.flatMap(({ path, isList = false }) =>
    [...(getEntries(root, path, isList) ?? [])]
      .filter(([, entry]) => startsFoldout(entry))
      .map(([name, entry]) => ({ path, isList, name, entry })),
  )
}

/** The servers that an installation without a receipt has probably moved. */
async function findLost(
  { path, text }: FoundFile,
  client: ClientDescription,
  format: Format,
  state: State,
): Promise<UninstallResult['lost']> {
  const records = (await state.configs.list()).flatMap(({ file, servers }) => {
    const own = servers.filter(({ owners }) => owners.includes(path)).map(({ name }) => name)
    if (own.length === 0) return []
    return [{ config: file, servers: own }]
  })
  if (records.length > 0) return records
  const configs = listGateways(text, client, format).flatMap(({ entry }) => getServedConfig(entry) ?? [])
  const found = configs.map(async (config) => {
    const servers = await readConfigServers(config).catch(() => new Map<string, unknown>())
    return { config, servers: [...servers.keys()] }
  })
  return (await Promise.all(found)).filter(({ servers }) => servers.length > 0)
}

/** The configuration that an entry starts the gateway with. */
function getServedConfig(entry: unknown): string | undefined {
  const read = readEntry(entry, { folder: undefined, inputs: new Map() })
  const words = 'definition' in read ? (read.definition.args ?? []).map(String) : []
  const option = words.findIndex((word) => word === '--config' || word === '-c')
  if (option === -1) return undefined
  return words[option + 1]
}
