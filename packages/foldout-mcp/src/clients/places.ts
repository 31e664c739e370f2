import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { getSystemHome } from '../gateway/surroundings.ts'
import type { ClientDescription, Places, Scope, System } from './client.ts'

/** The machine and the folder that files are looked for on. Tests replace them. */
export interface Whereabouts {
  readonly env: NodeJS.ProcessEnv
  readonly platform: NodeJS.Platform
  /** The folder of the project. */
  readonly project: string
}

/** The files of a client that are read: those that it is installed into, and others. */
export function listFiles(client: ClientDescription, scope: Scope, where: Whereabouts): readonly string[] {
  const others = client.others?.[scope] ?? []
  return expandAll([...listPlaces(client, scope, where), ...pick(others, where)], where)
}

function listPlaces({ user, project = [] }: ClientDescription, scope: Scope, where: Whereabouts): readonly string[] {
  if (scope === 'project') return project
  return pick(user, where)
}

/** The file that a server is added to: the first one that is there, or else the preferred one. */
export function chooseFile(client: ClientDescription, scope: Scope, where: Whereabouts): string | undefined {
  const places = listPlaces(client, scope, where)
  const files = places.map((place) => resolvePlace(place, where))
  return files.find((file) => existsSync(file)) ?? files[0]
}

/** The folder of the home of the user. */
export function getHome({ env, platform }: Whereabouts): string {
  const own = platform === 'win32' ? (env['USERPROFILE'] ?? env['HOME']) : env['HOME']
  return own || getSystemHome()
}

/** The folder for settings of programs. */
export function getSettingsFolder(where: Whereabouts): string {
  const { env, platform } = where
  const { join } = getPaths(where)
  if (platform === 'win32') return env['APPDATA'] || join(getHome(where), 'AppData', 'Roaming')
  if (platform === 'darwin') return join(getHome(where), 'Library', 'Application Support')
  return env['XDG_CONFIG_HOME'] || join(getHome(where), '.config')
}

/** The folder for what Foldout remembers between commands. */
export function getStateFolder(where: Whereabouts): string {
  const { env, platform } = where
  const { join } = getPaths(where)
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(getHome(where), 'AppData', 'Local'), 'foldout')
  if (platform === 'darwin') return join(getSettingsFolder(where), 'foldout')
  return join(env['XDG_STATE_HOME'] || join(getHome(where), '.local', 'state'), 'foldout')
}

function getPaths({ platform }: Whereabouts): path.PlatformPath {
  return platform === 'win32' ? path.win32 : path.posix
}

function pick(places: Places, { platform }: Whereabouts): readonly string[] {
  if (!('linux' in places)) return places
  const system: System = platform === 'darwin' || platform === 'win32' ? platform : 'linux'
  return places[system]
}

const PLACEHOLDER = /^\{(\w+)(?:\|([^}]*))?\}/

function resolvePlace(place: string, where: Whereabouts): string {
  const { join, resolve } = getPaths(where)
  const placeholder = PLACEHOLDER.exec(place)
  if (placeholder) {
    const [whole, name = '', fallback = ''] = placeholder
    const start = name === 'app' ? getSettingsFolder(where) : where.env[name] || resolvePlace(fallback, where)
    return join(start, place.slice(whole.length))
  }
  if (place === '~' || place.startsWith('~/')) return join(getHome(where), place.slice(1))
  return resolve(where.project, place)
}

function expandAll(places: readonly string[], where: Whereabouts): readonly string[] {
  const files = places.flatMap((place) => expand(resolvePlace(place, where)))
  return [...new Set(files)].filter((file) => existsSync(file))
}

/** The files that a path with one `*` stands for, in the order of their names. */
function expand(pattern: string): readonly string[] {
  const star = pattern.indexOf('*')
  if (star === -1) return [pattern]
  const folder = path.dirname(`${pattern.slice(0, star)}x`)
  const [, suffix = ''] = pattern.slice(folder.length + 1).split('*', 2)
  try {
    const names = readdirSync(folder).sort()
    if (suffix.includes('/') || suffix.includes('\\')) return names.map((name) => `${path.join(folder, name)}${suffix}`)
    return names.filter((name) => name.endsWith(suffix)).map((name) => path.join(folder, name))
  } catch {
    return []
  }
}
