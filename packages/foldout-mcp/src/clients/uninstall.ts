import { UsageError } from '../gateway/config/config.ts'
import type { ClientDescription, Scope } from './client.ts'
import { applyChange, getAt, getEntries, isEmpty, loadFormat, type Format } from './documents/document.ts'
import { startsFoldout } from './entries.ts'
import { checkWritable, findFile, hashText, removeFile, replaceFile, type FoundFile } from './files.ts'
import { changeConfig } from './gateway-config.ts'
import { chooseFile, getStateFolder, type Whereabouts } from './places.ts'
import { createState, type Receipt, type State } from './state.ts'

export interface UninstallRequest {
  readonly client: ClientDescription
  readonly scope: Scope
  readonly where: Whereabouts
  readonly isDryRun?: boolean
}

export interface UninstallResult {
  readonly client: string
  readonly file: string
  /** `restored` if the file is byte for byte what it was before, `edited` if it had been changed since. */
  readonly status: 'restored' | 'edited' | 'absent' | 'planned'
  readonly backup: string | undefined
  /** The servers that were restored. */
  readonly returned: readonly string[]
  readonly notes: readonly string[]
}

/**
 * Removes the gateway from a client, and restores what its installation moved.
 *
 * @throws Error if the client's file does not parse or cannot be written. Then nothing has changed.
 */
export async function uninstallGateway(request: UninstallRequest): Promise<UninstallResult> {
  const { client, scope, where } = request
  const file = chooseFile(client, scope, where)
  if (file === undefined) throw new UsageError(`${client.title} has no per-project configuration.`)
  const state = createState(getStateFolder(where))
  const { path } = await findFile(file)
  if (request.isDryRun) return uninstall(request, file, state)
  return state.withLock(path, () => uninstall(request, file, state))
}

async function uninstall(request: UninstallRequest, file: string, state: State): Promise<UninstallResult> {
  const { client, isDryRun = false } = request
  const found = await findFile(file)
  const receipt = await state.readReceipt(found.path)
  const result = { client: client.name, file, backup: undefined, returned: receipt?.moved.map(([name]) => name) ?? [] }
  const format = await loadFormat(client.format)
  const isExact = receipt !== undefined && found.text !== undefined && hashText(found.text) === receipt.after
  const next = getNext(found, file, () => {
    if (found.text === undefined) return undefined
    if (receipt) return undoChanges(found.text, receipt, format)
    return cutGateway(found.text, client, format)
  })
  if (next === found.text && !receipt) return { ...result, status: 'absent', notes: [] }
  if (isDryRun) return { ...result, status: 'planned', notes: [] }
  checkWritable(found)
  const backup = await state.keepBackup(found)
  if (next !== found.text) await restore(found, next, receipt?.createdFolders ?? [])
  const notes = await restoreConfig(receipt, state)
  await state.removeReceipt(found.path)
  return { ...result, backup, status: isExact ? 'restored' : 'edited', notes }
}

async function restore(found: FoundFile, text: string | undefined, folders: readonly string[]): Promise<void> {
  if (text === undefined) await removeFile(found.path, folders)
  else await replaceFile(found, text)
}

function getNext(found: FoundFile, file: string, plan: () => string | undefined): string | undefined {
  try {
    return plan()
  } catch (error) {
    checkWritable(found)
    throw new UsageError(`${file} was not changed: ${(error as Error).message}.`, { cause: error })
  }
}

/** The text without the installation; undefined if there was no file. Later changes are kept. */
export function undoChanges(text: string, receipt: Receipt, format: Format): string | undefined {
  const { path, isList, name, moved, isNewContainer, before } = receipt
  if (hashText(text) === receipt.after) return before ?? undefined
  const present = getEntries(format.parse(text), path, isList)
  const returned = moved.filter(([key]) => !present?.has(key))
  const changes = [[name, undefined] as const, ...returned]
  let next = changes.reduce((last, [key, value]) => applyChange(format, last, { path, isList, name: key, value }), text)
  const key = path.at(-1)
  if (isNewContainer && key !== undefined && isEmpty(getAt(format.parse(next), path)))
    next = applyRemoval(format, next, path.slice(0, -1), key)
  if (before === null && isEmpty(format.parse(next))) return undefined
  return next
}

function applyRemoval(format: Format, text: string, path: readonly string[], name: string): string {
  const edited = format.edit(text, { path, name, value: undefined })
  if (isEmpty(getAt(format.parse(edited), [...path, name]))) return edited
  return text
}

/** Without a receipt, removes every entry that starts the gateway. */
function cutGateway(text: string, { maps }: ClientDescription, format: Format): string {
  const root = format.parse(text)
  const names = maps.flatMap(({ path, isList = false }) =>
    [...(getEntries(root, path, isList) ?? [])]
      .filter(([, entry]) => startsFoldout(entry))
      .map(([name]) => ({ path, isList, name })),
  )
  return names.reduce((next, place) => applyChange(format, next, { ...place, value: undefined }), text)
}

/** Restores the gateway's configuration too, unless another client uses it. */
async function restoreConfig(receipt: Receipt | undefined, state: State): Promise<readonly string[]> {
  if (!receipt?.configChange) return []
  const { file, config, configChange } = receipt
  const others = (await state.listReceipts()).filter((other) => other.config === config && other.file !== file)
  if (others.length > 0)
    return [`${config} was not changed, because it is still used by ${others.map(({ client }) => client).join(', ')}.`]
  return state.withLock(config, async () => {
    const found = await findFile(config)
    if (found.text === undefined) return []
    if (hashText(found.text) === configChange.after) {
      await restore(found, configChange.before ?? undefined, configChange.createdFolders)
      return []
    }
    await changeConfig(config, new Map(configChange.added.map((name) => [name, undefined])), state)
    return []
  })
}
