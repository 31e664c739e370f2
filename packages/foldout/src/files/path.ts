import { FilesystemError } from './filesystem.ts'
import { MAX_PATH_LENGTH } from './limits.ts'
import { showPath } from './show-path.ts'

/**
 * Normalizes a path: parts joined by `/`, without `.`; `''` is the root. Rejects paths that could lead outside, and paths
 * that hosts interpret differently.
 */
export function normalizePath(path: string): string {
  const invalid = (message: string): FilesystemError => new FilesystemError(message, { path, reason: 'invalid-path' })
  if (path === '') return ''
  if (path.length > MAX_PATH_LENGTH) throw invalid(`A path can have at most ${MAX_PATH_LENGTH} characters.`)
  if (path.includes('\0')) throw invalid('A path cannot contain a NUL character.')
  // Hosts write a lone surrogate as another character, so two paths would refer to the same file.
  if (/\p{Surrogate}/u.test(path)) throw invalid('A path must be well-formed Unicode.')
  if (path.includes('\\')) throw invalid(`'${showPath(path)}' has a backslash. Separate the parts of a path with '/'.`)
  if (path.startsWith('/') || /^[a-z]:/i.test(path))
    throw invalid(`'${showPath(path)}' is an absolute path. Give it relative to the root, as in 'folder/file.txt'.`)
  const parts = path.split('/')
  if (parts.includes('..')) throw invalid(`'${showPath(path)}' has a '..' in it. Give the path from the root down.`)
  if (parts.includes(''))
    throw invalid(`'${showPath(path)}' has an empty part. Separate parts with one '/', and end without one.`)
  return parts.filter((part) => part !== '.').join('/')
}

/** Splits a normalized path into its parts; the root has none. */
export function getParts(path: string): string[] {
  if (path === '') return []
  return path.split('/')
}

/** Joins the path of a folder and a name. */
export function childPath(folder: string, name: string): string {
  if (folder === '') return name
  return `${folder}/${name}`
}

/** Lists the folders above a path, outermost first, without the root. */
export function getAncestors(path: string): string[] {
  const parts = getParts(path)
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** Compares by code units, which gives the same order on every machine. */
export function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  if (a.path === b.path) return 0
  if (a.path < b.path) return -1
  return 1
}
