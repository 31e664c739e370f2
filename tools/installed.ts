import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '..')

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly link?: boolean
  readonly resolved?: string
}

const { packages } = JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked>>
}

/** Where npm finds a package that another one asks for. */
function locate(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    if (place in packages) return place
    if (folder === '') return undefined
  }
}

/** The lock file does not say which packages are for another C library. */
function isForThisSystem(folder: string, { os, cpu }: Locked): boolean {
  const isWanted = (list: readonly string[] | undefined, own: string): boolean => !list || list.includes(own)
  return isWanted(os, process.platform) && isWanted(cpu, process.arch) && !folder.endsWith('-musl')
}

/** All packages that are installed with a package of this repository, by their folders. */
function listInstalled(root: string): readonly string[] {
  const found = new Set<string>([root])
  for (const folder of found) {
    const { dependencies, optionalDependencies } = packages[folder] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = locate(name, folder)
      const entry = place === undefined ? undefined : packages[place]
      if (place === undefined || !entry || !isForThisSystem(place, entry)) continue
      found.add(entry.link === true && entry.resolved !== undefined ? entry.resolved : place)
    }
  }
  return [...found]
}

function measure(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((bytes, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? bytes : bytes + measure(path)
    return bytes + lstatSync(path).size
  }, 0)
}

/** What npm packs of a package of this repository; all files of another one. */
function measurePackage(folder: string): number {
  const path = join(repository, folder)
  if (!folder.startsWith('packages/')) return existsSync(path) ? measure(path) : 0
  const { files } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as {
    readonly files: readonly string[]
  }
  return files
    .map((file) => join(path, file))
    .filter((file) => existsSync(file))
    .reduce((bytes, file) => bytes + (lstatSync(file).isDirectory() ? measure(file) : lstatSync(file).size), 0)
}

/** What `npx` installs for a package of this repository: the folders of all packages, and their size. */
export interface Installed {
  readonly folders: readonly string[]
  readonly bytes: number
}

export function measureInstalled(name: string): Installed {
  const folders = listInstalled(`packages/${name}`)
  return { folders, bytes: folders.reduce((sum, folder) => sum + measurePackage(folder), 0) }
}
