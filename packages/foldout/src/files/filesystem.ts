import { FoldoutError } from '../core/errors.ts'

/** What a path leads to. */
export interface FileEntry {
  /** Relative to the root, with `/` between its parts. */
  readonly path: string
  readonly kind: 'file' | 'folder'
  /** In bytes of UTF-8; 0 for folders. */
  readonly size: number
  /** Set where the path is a link. Walks do not go into folders that are links, so that they end. */
  readonly link?: true
}

/**
 * Text files below one root. Paths are relative to it, with `/`; nothing outside can be named. A folder is there as long
 * as something is in it. Operations reject with a {@link FilesystemError} that says which path and what to do.
 */
export interface Filesystem {
  read(path: string): Promise<string>
  /** Reads some lines without holding the whole file; absent where files are small enough to be read as a whole. */
  readLines?(path: string, range: LineRange): Promise<LineExcerpt>
  /** Replaces or creates a file, and the folders on the way to it. */
  write(path: string, text: string): Promise<void>
  /** What lies directly in a folder, sorted by path; `''` is the root. */
  list(folder: string): Promise<readonly FileEntry[]>
  /** What is at a path, or `undefined`. */
  stat(path: string): Promise<FileEntry | undefined>
  /** Removes a file, or a folder with all in it, and the folders that are empty then. */
  remove(path: string): Promise<void>
  /** Begins changes that can be abandoned as a whole; absent where the files cannot do that. */
  begin?(): FilesystemTransaction
}

/** Which lines of a file to read, and how much of them at most. */
export interface LineRange {
  /** Counted from 1. */
  readonly first: number
  /** The last line, included. Default: the last one of the file. */
  readonly last?: number
  readonly maxLines: number
  /** Of all lines together, in bytes of UTF-8. Of the first line, what is beyond is cut; later ones come whole or not. */
  readonly maxBytes: number
}

/** Some lines of a file. */
export interface LineExcerpt {
  /** The lines, without the line breaks behind them. */
  readonly lines: readonly string[]
  /** How many lines the file has. */
  readonly total: number
  /** How many bytes the first line has, where it was cut. */
  readonly cutLineBytes?: number
}

/** Shows the files as they were when it began, with its own changes. */
export interface FilesystemTransaction {
  readonly filesystem: Filesystem
  /**
   * Makes the changes show outside. Where a file that was read and changed in here was changed outside too, or what was
   * written has no place there any more, it throws a {@link FilesystemError} and changes nothing; then abandon it.
   */
  commit(): void
  /** Forgets what was written in here. */
  abandon(): void
}

/** Why a path cannot be used. */
export type FilesystemErrorReason = 'not-found' | 'outside' | 'is-folder' | 'not-folder' | 'invalid-path' | 'failed'

/** What a {@link FilesystemError} is about. */
export interface FilesystemErrorDetails {
  readonly path: string
  readonly reason: FilesystemErrorReason
  readonly cause?: unknown
}

/**
 * A path cannot be used as asked. The message is fit for a model: it tells nothing of the host but the path given.
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
  /** As it was asked for. */
  readonly path: string
  readonly reason: FilesystemErrorReason

  constructor(message: string, details: FilesystemErrorDetails) {
    super('filesystem', message, details.cause === undefined ? undefined : { cause: details.cause })
    this.path = details.path
    this.reason = details.reason
  }
}
