import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HttpServer, ServerConfig } from '../config/config.ts'
import { MAX_CACHE_BYTES } from './limits.ts'
import { hashSnapshot, type Snapshot } from './snapshot.ts'

/** A cached snapshot. */
export interface CachedSnapshot {
  readonly snapshot: Snapshot
  readonly savedAt: number
}

/** The snapshots of servers when they last ran. The cache only saves time: nothing fails because of it. */
export interface CatalogCache {
  read(server: ServerConfig): Promise<CachedSnapshot | undefined>
  /** Returns whether it could be written. */
  write(server: ServerConfig, snapshot: Snapshot): Promise<boolean>
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

export function createCatalogCache(folder: string, onProblem: (message: string) => void): CatalogCache {
  const toFile = (server: ServerConfig): string => join(folder, `${identifyServer(server)}.json`)
  return {
    async read(server) {
      const file = toFile(server)
      try {
        const { size } = await stat(file)
        if (size > MAX_CACHE_BYTES) throw new Error('it is too large')
        const kept = readCached(JSON.parse(await readFile(file, 'utf8')))
        if (!kept) throw new Error('its content is damaged')
        return kept
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (code !== 'ENOENT') onProblem(`The cache file ${file} is ignored: ${message}`)
        return undefined
      }
    },
    async write(server, snapshot) {
      const file = toFile(server)
      const draft = `${file}.${process.pid}.${randomUUID()}.tmp`
      const content = { format: FORMAT, savedAt: Date.now(), hash: hashSnapshot(snapshot), snapshot }
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeFile(draft, JSON.stringify(content), { mode: 0o600 })
        // A concurrent reader sees the old file or the new one, never half of one.
        await rename(draft, file)
        return true
      } catch (error) {
        await rm(draft, { force: true }).catch(() => undefined)
        onProblem(`The tools of '${server.name}' cannot be cached: ${(error as Error).message}`)
        return false
      }
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
  return auth ? [JSON.stringify([auth.type, auth.clientId, auth.account])] : []
}

function readCached(value: unknown): CachedSnapshot | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { format, savedAt, hash, snapshot } = value as Partial<Record<string, unknown>>
  if (format !== FORMAT || typeof savedAt !== 'number' || !isSnapshot(snapshot)) return undefined
  // If the clock was set back, the list must still expire.
  return hash === hashSnapshot(snapshot) ? { snapshot, savedAt: Math.min(savedAt, Date.now()) } : undefined
}

export function isSnapshot(value: unknown): value is Snapshot {
  return typeof value === 'object' && value !== null && 'tools' in value && Array.isArray(value.tools)
}
