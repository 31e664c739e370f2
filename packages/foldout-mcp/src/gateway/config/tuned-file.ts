import { dirname, join, resolve } from 'node:path'
import { isObject } from 'foldout-shared/values'
import { findStats, replaceFile } from '../../shared/files.ts'
import { UsageError, type GatewayConfig, type ServerConfig } from './config.ts'
import { readTextFile } from './text-file.ts'

/**
 * The file beside a configuration with the tools that `foldout tune` lists from the start. It needs no trust: it starts
 * and reaches nothing. Deleting it undoes it.
 */
export function getTunedFile(config: string): string {
  return join(dirname(resolve(config)), 'foldout.tuned.json')
}

/** Lists tools from the start, as `server/tool`. */
export async function writeTunedFile(file: string, core: readonly string[]): Promise<void> {
  await replaceFile(file, `${JSON.stringify({ core }, null, 2)}\n`)
}

/** Lists the tools from the start that the files beside configurations name. What a configuration says itself wins. */
export async function applyTunedFiles(config: GatewayConfig, files: readonly string[]): Promise<GatewayConfig> {
  const core = new Set<string>()
  for (const file of new Set(files.map(getTunedFile)))
    if (findStats(file)) for (const name of readCore(await readTextFile(file), file)) core.add(name)
  if (core.size === 0) return config
  return { ...config, servers: config.servers.map((server) => withCore(server, core)) }
}

function readCore(text: string, file: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(text)
    const core = isObject(value) ? value['core'] : undefined
    if (Array.isArray(core) && core.every((name) => typeof name === 'string')) return core
  } catch {
    // Reported below, like every other text that is not what tune writes.
  }
  throw new UsageError(`${file} is not what foldout tune writes: {"core": ["server/tool"]}. Fix or delete it.`)
}

function withCore(server: ServerConfig, core: ReadonlySet<string>): ServerConfig {
  const own = [...core].flatMap((name) =>
    name.startsWith(`${server.name}/`) ? [name.slice(server.name.length + 1)] : [],
  )
  if (own.length === 0) return server
  const overrides = new Map(server.overrides)
  for (const shown of own) {
    const [name = shown] = [...server.overrides].find(([, override]) => override.name === shown) ?? []
    overrides.set(name, { core: true, ...overrides.get(name) })
  }
  return { ...server, overrides }
}
