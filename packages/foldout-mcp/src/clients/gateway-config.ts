import { existsSync } from 'node:fs'
import { dirname, extname, isAbsolute, join, relative, resolve } from 'node:path'
import { UsageError } from '../gateway/config/config.ts'
import type { ServerDefinition } from '../gateway/config/definition.ts'
import { EMPTY_CONFIG, findDefaultConfig } from '../gateway/config/own-entry.ts'
import { findServerKey } from '../gateway/config/server-key.ts'
import { dropUndefined, isObject } from 'foldout-shared/values'
import { type Path } from './documents/format.ts'
import { applyChanges, getEntries, loadFormat } from './documents/document.ts'
import { checkWritable, findFile, replaceFile, type FoundFile } from './files.ts'
import { hasSecrets } from './redact.ts'
import type { State } from './state.ts'

/** A change to a configuration. */
export interface ConfigChange {
  /** The text before; null if there was no file. */
  readonly before: string | null
  readonly after: string
  readonly createdFolders: readonly string[]
}

/** The file to write servers to: the one the user named, or `foldout.config.json` in the folder. */
export function getConfigFile(named: string | undefined, folder: string): string {
  const program = join(folder, 'foldout.config.ts')
  if (named === undefined && existsSync(program)) checkJson(program)
  const file = resolve(folder, named ?? 'foldout.config.json')
  checkJson(file)
  return file
}

/** The file to change servers in: the one the user named, or the one in use in the folder, whose servers another one would hide. */
export function getUsedConfigFile(named: string | undefined, folder: string): string {
  return getConfigFile(named ?? findDefaultConfig(folder), folder)
}

/** The configuration that clients start the gateway with. The default names are tried first. */
export function findConfigFile(named: string | undefined, folder: string, target: string): string {
  if (named !== undefined) return resolve(folder, named)
  // The gateway cannot serve a file in which it is itself a server.
  const usual = findDefaultConfig(folder, target)
  if (usual === undefined) return getConfigFile(undefined, folder)
  return join(folder, usual)
}

/** The servers of a configuration, as written. */
export async function readConfigServers(file: string): Promise<ReadonlyMap<string, ServerDefinition>> {
  return readServers(await findFile(file), file)
}

/**
 * Writes servers into a configuration, and removes those that are undefined. Everything else in the file stays.
 *
 * @throws Error if the file does not parse, is read-only, or is not JSON.
 */
export async function changeConfig(
  file: string,
  servers: ReadonlyMap<string, ServerDefinition | undefined>,
  state: State,
): Promise<ConfigChange | null> {
  checkJson(file)
  const found = await findFile(file)
  const next = await planConfig(found.text ?? EMPTY_CONFIG, file, servers)
  if (next === found.text) return null
  checkWritable(found)
  await state.keepBackup(found)
  const createdFolders = await replaceFile(found, next)
  return { before: found.text ?? null, after: next, createdFolders }
}

/** A configuration without some servers. */
export function cutServers(text: string, file: string, names: readonly string[]): Promise<string> {
  return planConfig(text, file, new Map(names.map((name) => [name, undefined])))
}

/**
 * A definition as it is written to a configuration. A working folder in the configuration's own folder is written
 * relative to it, so that the two can be moved and shared.
 */
export function toWritten(definition: ServerDefinition, file: string): ServerDefinition {
  const { cwd } = definition
  if (cwd === undefined || !isAbsolute(cwd)) return definition
  const path = relative(dirname(file), cwd)
  if (/^\.\.(?:[/\\]|$)/.test(path) || isAbsolute(path)) return definition
  return { ...definition, cwd: path === '' ? '.' : path }
}

/** A definition of a configuration, for use in another one: its paths are absolute. */
export function toPortable(definition: ServerDefinition, file: string): ServerDefinition {
  const { cwd, envFile, auth } = definition
  const toAbsolute = (path: string | undefined): string | undefined => {
    if (path === undefined || path.startsWith('${')) return path
    return resolve(dirname(file), path)
  }
  const privateKeyFile = toAbsolute(auth?.privateKeyFile)
  return {
    ...definition,
    ...dropUndefined({ cwd: toAbsolute(cwd), envFile: toAbsolute(envFile) }),
    ...(auth && privateKeyFile !== undefined && { auth: { ...auth, privateKeyFile } }),
  }
}

async function planConfig(
  text: string,
  file: string,
  servers: ReadonlyMap<string, ServerDefinition | undefined>,
): Promise<string> {
  const format = await loadFormat('json')
  try {
    const path = getServerPath(format.parse(text))
    return applyChanges(
      format,
      text,
      { path },
      Array.from(servers, ([name, value]) => ({ name, value })),
    )
  } catch (error) {
    throw new UsageError(`${file} was not changed: ${(error as Error).message}.`, { cause: error })
  }
}

async function readServers({ text }: FoundFile, file: string): Promise<ReadonlyMap<string, ServerDefinition>> {
  if (text === undefined) return new Map()
  checkJson(file)
  try {
    const root = (await loadFormat('json')).parse(text)
    const entries = getEntries(root, getServerPath(root)) ?? []
    return new Map([...entries].filter((entry): entry is [string, object] => isObject(entry[1])))
  } catch (error) {
    throw new UsageError(`${file} was not changed: ${(error as Error).message}.`, { cause: error })
  }
}

/** Servers are added where the gateway reads them: it would not read a second place. */
function getServerPath(root: unknown): Path {
  return [findServerKey(root) ?? 'mcpServers']
}

/**
 * Refuses to write secrets of clients to a file that other users of the machine can read.
 *
 * @throws UsageError that says which servers have secrets, and what to do.
 */
export async function refuseShared(file: string, servers: ReadonlyMap<string, ServerDefinition>): Promise<void> {
  const { path, text, mode } = await findFile(file)
  const secret = [...servers].filter(([, definition]) => hasSecrets(definition)).map(([name]) => name)
  if (process.platform === 'win32' || text === undefined || (mode & OTHERS_READ) === 0 || secret.length === 0) return
  throw new UsageError(
    `${path} was not changed, because other users of this machine can read it, and these servers have secrets: ${secret.join(', ')}. Make it private (chmod 600 ${path}), or name another file: --config <file>.`,
  )
}

const OTHERS_READ = 0o044

function checkJson(file: string): void {
  if (/^\.[cm]?[jt]s$/.test(extname(file)))
    throw new UsageError(`${file} is code, which only you can change. Name a JSON file: --config <file>.`)
}
