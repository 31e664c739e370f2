import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ignore } from 'foldout/promises'
import { retryIfInUse } from 'foldout-shared/in-use'
import { isObject } from 'foldout-shared/values'
import { isCode, isMissing } from 'foldout-shared/error-codes'
import type { HttpServer, ServerConfig } from '../config/config.ts'
import { fillServer, type FilledServer } from '../config/fill-server.ts'
import { createFile, readJson, replaceFile } from '../../shared/files.ts'
import { StorageFailures } from '../../shared/storage-failures.ts'
import { MAX_CACHE_BYTES, MAX_MARK_BYTES } from './limits.ts'
import { hashSnapshot, type Snapshot } from '../model/snapshot.ts'

/** A cached snapshot. */
export interface CachedSnapshot {
  readonly snapshot: Snapshot
  /** -Infinity if the values of the server's variables have changed since then, so that it may have other tools now. */
  readonly savedAt: number
}

/** The snapshots of servers when they last ran. The cache only saves time: nothing fails because of it. */
export interface CatalogCache {
  read(server: ServerConfig): Promise<CachedSnapshot | undefined>
  /** Returns whether it could be written. The server is no longer one that has failed. */
  write(server: ServerConfig, snapshot: Snapshot): Promise<boolean>
  /** Whether the server, with the same settings and values, never got as far as listing its tools. Clients do not wait for it again. */
  hasFailed(server: ServerConfig): Promise<boolean>
  noteFailure(server: ServerConfig): Promise<void>
  /**
   * Asks a server what it has, while no other gateway does. What another one has written meanwhile, or not long ago, is enough. One
   * that takes too long is not waited for.
   */
  learn(server: ServerConfig, ask: () => Promise<void>): Promise<void>
  /**
   * Calls a listener when another gateway may have written something. Returns a function that stops it. Files are not watched: the
   * gateways of one person each ask their own servers.
   */
  watch(server: ServerConfig, listener: () => void): () => void
}

/** Files of other versions are ignored. */
const FORMAT = 1

export interface CatalogCacheOptions {
  readonly env: NodeJS.ProcessEnv
  /** The file with the key of the hashes of values. It is created if it does not exist. */
  readonly keyFile: string
  onProblem(message: string): void
}

export function createCatalogCache(folder: string, { env, keyFile, onProblem }: CatalogCacheOptions): CatalogCache {
  const toFile = (server: ServerConfig): string => join(folder, `${identifyServer(server)}.json`)
  const toMark = (server: ServerConfig): string => join(folder, `${identifyServer(server)}.failed`)
  const hashValues = createValueHash(env, keyFile)
  const failures = new StorageFailures(onProblem)
  return {
    async read(server) {
      const file = toFile(server)
      try {
        const { size } = await stat(file)
        if (size > MAX_CACHE_BYTES) throw new Error('it is too large')
        const kept = readCached(JSON.parse(await readFile(file, 'utf8')))
        if (!kept) throw new Error('its content is damaged')
        const values = await hashValues(server)
        if (values === undefined || values === kept.values) return kept
        return { ...kept, savedAt: -Infinity }
      } catch (error) {
        if (isMissing(error)) return undefined
        const { code, message } = error as NodeJS.ErrnoException
        // A folder that cannot be read is the same for every server; a damaged file is one server's.
        if (code === undefined) onProblem(`The cache file ${file} is ignored: ${message}`)
        else failures.report('Cached tools cannot be read', error)
        return undefined
      }
    },
    async write(server, snapshot) {
      const file = toFile(server)
      const draft = `${file}.${process.pid}.${randomUUID()}.tmp`
      const values = await hashValues(server)
      const content = { format: FORMAT, savedAt: Date.now(), hash: hashSnapshot(snapshot), values, snapshot }
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeFile(draft, JSON.stringify(content), { mode: 0o600 })
        // A concurrent reader sees the old file or the new one, never half of one.
        await retryIfInUse(() => rename(draft, file))
        await rm(toMark(server), { force: true })
        failures.clear()
        return true
      } catch (error) {
        await ignore(rm(draft, { force: true }), 'the first error is the one to tell')
        failures.report('Tools cannot be cached', error)
        return false
      }
    },
    async hasFailed(server) {
      // A mark that cannot be read costs a few seconds of waiting.
      const mark = await ignore(readJson(toMark(server), MAX_MARK_BYTES), 'waiting a few seconds is no harm')
      return isObject(mark) && mark['values'] === (await hashValues(server))
    },
    async noteFailure(server) {
      const mark = JSON.stringify({ values: await hashValues(server) })
      await replaceFile(toMark(server), mark).catch((error: Error) =>
        failures.report('Failed starts cannot be noted', error),
      )
    },
    learn: (_server, ask) => ask(),
    watch: () => () => undefined,
  }
}

/** How a server is started, without the values of its secrets. */
export function identifyServer(server: ServerConfig): string {
  const how =
    server.kind === 'stdio'
      ? [server.command, ...server.args, server.cwd ?? '', ...Object.keys(server.env).sort()]
      : [server.kind, server.url, ...Object.keys(server.headers).sort(), ...identifyAccount(server)]
  return createHash('sha256')
    .update(JSON.stringify([server.name, how]))
    .digest('hex')
    .slice(0, 32)
}

/** Two accounts may see different tools. */
function identifyAccount({ auth }: HttpServer): readonly string[] {
  if (auth) return [JSON.stringify([auth.type, auth.clientId, auth.account])]
  return []
}

/**
 * Hashes what a server is started with, values included. The key is not in the cache, so that nobody can find out a short secret by
 * trying all of them. Undefined if a variable is missing or there is no key.
 */
function createValueHash(
  env: NodeJS.ProcessEnv,
  keyFile: string,
): (server: ServerConfig) => Promise<string | undefined> {
  let key: Promise<string> | undefined
  return async (server) => {
    try {
      // Folders differ between clients, and do not change the tools.
      const values = listValues(await fillServer(server, { env, root: '' }))
      key ??= readKey(keyFile)
      return createHmac('sha256', await key)
        .update(JSON.stringify(values))
        .digest('hex')
    } catch {
      return undefined
    }
  }
}

function listValues(server: FilledServer): unknown {
  const sort = (record: Readonly<Record<string, string>>): unknown =>
    Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1))
  if (server.kind !== 'stdio') return [server.url.href, sort(server.headers)]
  return [server.command, server.args, server.cwd, sort(server.env)]
}

async function readKey(file: string): Promise<string> {
  const read = (): Promise<string> => readFile(file, 'utf8')
  const key = await read().catch(async (error: unknown) => {
    if (!isCode(error, 'ENOENT')) throw error
    // Another gateway may have been first.
    await createFile(file, randomBytes(32).toString('hex'))
    return read()
  })
  if (!/^[0-9a-f]{64}$/.test(key)) throw new Error('The key is damaged.')
  return key
}

interface CachedFile extends CachedSnapshot {
  readonly values: unknown
}

function readCached(value: unknown): CachedFile | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { format, savedAt, hash, values, snapshot } = value as Partial<Record<string, unknown>>
  if (format !== FORMAT || typeof savedAt !== 'number' || !isSnapshot(snapshot)) return undefined
  // If the clock was set back, the list must still expire.
  if (hash === hashSnapshot(snapshot)) return { snapshot, values, savedAt: Math.min(savedAt, Date.now()) }
  return undefined
}

export function isSnapshot(value: unknown): value is Snapshot {
  return typeof value === 'object' && value !== null && 'tools' in value && Array.isArray(value.tools)
}
