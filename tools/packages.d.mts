export const repository: string
export const PACKAGES: readonly string[]

export interface Project {
  readonly author: string
  /** The URL of the repository; undefined until it is known. */
  readonly repository?: string
  readonly branch: string
}

export interface PackageEntry {
  readonly name: string
  readonly subpath: string
  readonly file: string
}

export type Manifest = Readonly<Record<string, unknown>>

export function readProject(): Project
export function getServerName(project: Project): string | undefined
export function readManifest(folder: string): Manifest
export function listEntries(folder: string): PackageEntry[]
export function writeManifest(folder: string): void
export function completeManifest(folder: string, manifest: Manifest, project?: Project): Manifest
export function writeDocuments(folder: string): void
export function makeLinksAbsolute(text: string, project: Project): string
