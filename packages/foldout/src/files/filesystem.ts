import { FoldoutError } from '../core/errors.ts'

/**
 * A file or folder.
 *
 * @example
 * ```ts
 * const files = createMemoryFilesystem({ 'docs/guide.md': '# Guide' })
 * const entries: readonly FileEntry[] = await files.list('docs')
 * entries // => [ { path: 'docs/guide.md', kind: 'file', size: 7 } ]
 * ```
 */
export interface FileEntry {
  /** The path relative to the root, with `/` between its parts. */
  readonly path: string
  readonly kind: 'file' | 'folder'
  /** The size in bytes of UTF-8; 0 for folders. */
  readonly size: number
  /** True if the path is a link. Searches do not enter folders that are links, so they always end. */
  readonly link?: true
}

/**
 * Text files below one root. Paths are relative to the root, with `/`; nothing outside the root can be named. A folder
 * exists as long as it contains something. Operations reject with a {@link FilesystemError} that names the path and says
 * what to do.
 *
 * @example
 * ```ts
 * const files: Filesystem = createMemoryFilesystem({ 'guide.md': '# Guide' })
 * await runAgent(bound, { adapter, filesystem: files })
 * await files.read('guide.md') // => '# Guide'
 * ```
 */
export interface Filesystem {
  read(path: string): Promise<string>
  /** Reads the bytes of a file of any kind. Absent if every file is text. */
  readBytes?(path: string): Promise<Uint8Array>
  /** Reads some lines without loading the whole file. Absent if every file is small enough to load. */
  readLines?(path: string, range: LineRange): Promise<LineExcerpt>
  /** Replaces or creates a file, and creates missing parent folders. */
  write(path: string, text: string): Promise<void>
  /** Lists the direct entries of a folder, sorted by path; `''` is the root. */
  list(folder: string): Promise<readonly FileEntry[]>
  /** Returns the file or folder at a path, or `undefined`. */
  stat(path: string): Promise<FileEntry | undefined>
  /** Removes a file, or a folder with its contents, and the parent folders that this leaves empty. */
  remove(path: string): Promise<void>
  /** Begins a transaction: changes that can be abandoned as a whole. Absent if the filesystem has no transactions. */
  begin?(): FilesystemTransaction
}

/**
 * Which lines of a file to read, and the limits.
 *
 * @example
 * ```ts
 * const range: LineRange = { first: 1, last: 20, maxLines: 100, maxBytes: 10_000 }
 * const files = createHostFilesystem('.')
 * const excerpt = await files.readLines?.('README.md', range)
 * ```
 */
export interface LineRange {
  /** The first line, counted from 1. */
  readonly first: number
  /** The last line, inclusive. Default: the last line of the file. */
  readonly last?: number
  readonly maxLines: number
  /**
   * The limit for all lines together, in bytes of UTF-8. If the first line is longer, it is cut; later lines are either
   * complete or left out.
   */
  readonly maxBytes: number
}

/**
 * Some lines of a file.
 *
 * @example
 * ```ts
 * const excerpt: LineExcerpt = { lines: ['# Guide', ''], total: 120 }
 * const rest = excerpt.total - excerpt.lines.length
 * rest // => 118
 * ```
 */
export interface LineExcerpt {
  /** The lines, without their line breaks. */
  readonly lines: readonly string[]
  /** The number of lines in the file. */
  readonly total: number
  /** The size of the first line in bytes, if it was cut. */
  readonly cutLineBytes?: number
}

/**
 * A transaction on files. It sees the files as they were when it began, plus its own changes.
 *
 * @example
 * ```ts
 * const files = createMemoryFilesystem({ 'notes.md': 'Old' })
 * const transaction: FilesystemTransaction | undefined = files.begin?.()
 * await transaction?.filesystem.write('notes.md', 'New')
 * await files.read('notes.md') // => 'Old'
 * transaction?.commit()
 * await files.read('notes.md') // => 'New'
 * ```
 */
export interface FilesystemTransaction {
  readonly filesystem: Filesystem
  /**
   * Applies the changes to the outer filesystem. Throws a {@link FilesystemError} and changes nothing if a file that
   * was read and changed in the transaction was also changed outside, or if a written path is no longer possible there.
   * In that case, abandon the transaction.
   */
  commit(): void
  /** Discards the changes. */
  abandon(): void
}

/**
 * Why a path cannot be used.
 *
 * @example
 * ```ts
 * const canCreate = (reason: FilesystemErrorReason): boolean => reason === 'not-found'
 * const files = createMemoryFilesystem()
 * await files.read('notes.md').catch((error) => error instanceof FilesystemError && canCreate(error.reason)) // => true
 * ```
 */
export type FilesystemErrorReason = 'not-found' | 'outside' | 'is-folder' | 'not-folder' | 'invalid-path' | 'failed'

/**
 * The details of a {@link FilesystemError}.
 *
 * @example
 * ```ts
 * const details: FilesystemErrorDetails = { path: 'notes.md', reason: 'not-found' }
 * new FilesystemError('There is no file notes.md.', details).reason // => 'not-found'
 * ```
 */
export interface FilesystemErrorDetails {
  readonly path: string
  readonly reason: FilesystemErrorReason
  readonly cause?: unknown
}

/**
 * Thrown if a path cannot be used as requested. The message is safe for models: it reveals nothing about the host
 * except the requested path.
 *
 * @example
 * ```ts
 * import { FilesystemError, createMemoryFilesystem } from 'foldout/files'
 *
 * const files = createMemoryFilesystem()
 * try {
 *   await files.read('notes.md')
 * } catch (error) {
 *   if (error instanceof FilesystemError && error.reason === 'not-found') await files.write('notes.md', '')
 * }
 * ```
 */
export class FilesystemError extends FoldoutError {
  /** The path as requested. */
  readonly path: string
  readonly reason: FilesystemErrorReason

  constructor(message: string, details: FilesystemErrorDetails) {
    super('filesystem', message, details.cause === undefined ? undefined : { cause: details.cause })
    this.path = details.path
    this.reason = details.reason
  }
}
