import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { getSystemHome } from '../shared/surroundings.ts'
import type { ClientDescription, Places, Scope, System } from './client.ts'
import type { Path } from './documents/format.ts'

/** The machine and the project folder in which to look for files. Tests pass their own. */
export interface Whereabouts {
  readonly env: NodeJS.ProcessEnv
  readonly platform: NodeJS.Platform
  /** The project folder. */
  readonly project: string
}

/** All files of a client to read: those the gateway can be installed in, and others. */
export function listFiles(client: ClientDescription, scope: Scope, where: Whereabouts): readonly string[] {
  const others = client.others?.[scope] ?? []
  return expandPlaces([...listPlaces(client, scope, where), ...pick(others, where)], where)
}

function listPlaces({ user, project = [] }: ClientDescription, scope: Scope, where: Whereabouts): readonly string[] {
  if (scope === 'project') return project
  return pick(user, where)
}

/** The files that the gateway can be installed in, whether they exist or not, the preferred one first. */
export function listOwnFiles(client: ClientDescription, scope: Scope, where: Whereabouts): readonly string[] {
  return listPlaces(client, scope, where).map((place) => resolvePlace(place, where))
}

/** The file to add a server to: the first one that exists, or else the preferred one. */
export function chooseFile(client: ClientDescription, scope: Scope, where: Whereabouts): string | undefined {
  const files = listOwnFiles(client, scope, where)
  return files.find((file) => existsSync(file)) ?? files[0]
}

/** The user's home folder. */
export function getHome({ env, platform }: Whereabouts): string {
  const own = platform === 'win32' ? (env['USERPROFILE'] ?? env['HOME']) : env['HOME']
  return own || getSystemHome()
}

/** The folder for application settings. */
export function getSettingsFolder(where: Whereabouts): string {
  const { env, platform } = where
  const { join } = getPaths(where)
  if (platform === 'win32') return env['APPDATA'] || join(getHome(where), 'AppData', 'Roaming')
  if (platform === 'darwin') return join(getHome(where), 'Library', 'Application Support')
  return env['XDG_CONFIG_HOME'] || join(getHome(where), '.config')
}

/** The folder for state that Foldout keeps between commands. */
export function getStateFolder(where: Whereabouts): string {
  const { env, platform } = where
  const { join } = getPaths(where)
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(getHome(where), 'AppData', 'Local'), 'foldout')
  if (platform === 'darwin') return join(getSettingsFolder(where), 'foldout')
  return join(env['XDG_STATE_HOME'] || join(getHome(where), '.local', 'state'), 'foldout')
}

/** A path in a file of the user that has settings of single projects. */
export function fillProject(path: Path, { project }: Whereabouts): Path {
  return path.map((key) => (key === '{project}' ? project : key))
}

function getPaths({ platform }: Whereabouts): path.PlatformPath {
  if (platform === 'win32') return path.win32
  return path.posix
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

/** The existing files of a list of places. */
export function expandPlaces(places: readonly string[], where: Whereabouts): readonly string[] {
  const files = places.flatMap((place) => expand(resolvePlace(place, where)))
  return [...new Set(files)].filter((file) => existsSync(file))
}

/** The files that match a path with one `*`, sorted by name. */
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
