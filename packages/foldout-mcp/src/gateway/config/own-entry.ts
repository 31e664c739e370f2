import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ServerConfig } from './config.ts'

/** The files that are read if a command names none, in this order. */
export const DEFAULT_CONFIGS: readonly string[] = ['foldout.config.ts', 'foldout.config.json', '.mcp.json']

/** A new configuration. */
export const EMPTY_CONFIG = '{\n  "mcpServers": {}\n}\n'

/** Whether nobody has written anything into a configuration since it was created. */
export function isNewConfig(text: string): boolean {
  return text.replaceAll(/\s/g, '') === EMPTY_CONFIG.replaceAll(/\s/g, '')
}

/** Longer files are not new. */
const MOST_EMPTY_BYTES = 1_000

/** The configuration in use in a folder, as a name: the first with a default name. A new one does not hide the servers of the others. */
export function findDefaultConfig(folder: string, except?: string): string | undefined {
  const found = DEFAULT_CONFIGS.filter((name) => {
    const file = join(folder, name)
    return existsSync(file) && (except === undefined || !isSameFile(file, except))
  })
  return found.find((name) => !isEmptyFile(join(folder, name))) ?? found[0]
}

function isEmptyFile(file: string): boolean {
  const stats = statSync(file)
  return stats.isFile() && stats.size <= MOST_EMPTY_BYTES && isNewConfig(readFileSync(file, 'utf8'))
}

/**
 * Whether an entry of a file starts a gateway that serves the same file. Clients are set up this way: a project's
 * `.mcp.json` may list the gateway and the servers behind it.
 */
export function servesOwnFile(server: ServerConfig, file: string): boolean {
  if (server.kind !== 'stdio' || !startsGateway([server.command, ...server.args])) return false
  const folder = server.cwd ?? process.cwd()
  const named = listConfigs(server.args)
  const served = named.length > 0 ? named : [findDefaultConfig(folder) ?? []].flat()
  return served.some((one) => isSameFile(resolve(folder, one), file))
}

/** Whether a command starts Foldout: by its package, or by the program's name. */
export function startsGateway(words: readonly string[]): boolean {
  if (words.some((word) => /^foldout-mcp(?:@.*)?$/.test(word))) return true
  const isProgram = words.some((word) => /(?:^|[/\\])foldout(?:\.(?:m?js|cmd|exe))?$/.test(word))
  return isProgram && words.includes('serve')
}

/** The files that the options of a command name. */
function listConfigs(args: readonly string[]): readonly string[] {
  return args.flatMap((word, at) => {
    if (word === '--config' || word === '-c') return args[at + 1] ?? []
    if (word.startsWith('--config=')) return word.slice('--config='.length)
    return []
  })
}

/** Compares the files, not their paths: on Windows and macOS, `C:\Work` and `c:\work` are the same folder. */
function isSameFile(one: string, other: string): boolean {
  if (resolve(one) === resolve(other)) return true
  const [first, second] = [one, other].map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
  return first !== undefined && first.ino === second?.ino && first.dev === second.dev
}
