/** What a path leads to. */
export interface FileEntry {
  /** Relative to the root, with `/` between its parts. */
  readonly path: string
  readonly kind: 'file' | 'folder'
  /** In bytes of UTF-8; 0 for folders. */
  readonly size: number
}

/**
 * Text files below one root. Paths are relative to it, with `/`; nothing outside can be named. Operations reject with a
 * {@link FilesystemError} that says which path and what to do.
 */
export interface Filesystem {
  read(path: string): Promise<string>
  /** Replaces or creates a file, and the folders on the way to it. */
  write(path: string, text: string): Promise<void>
  /** What lies directly in a folder, sorted by path; `''` is the root. */
  list(folder: string): Promise<readonly FileEntry[]>
  /** What is at a path, or `undefined`. */
  stat(path: string): Promise<FileEntry | undefined>
  /** Removes a file, or a folder with all in it. */
  remove(path: string): Promise<void>
  /** Begins changes that can be abandoned as a whole; absent where the files cannot do that. */
  begin?(): FilesystemTransaction
}

export interface FilesystemTransaction {
  readonly filesystem: Filesystem
  commit(): void
  /** Forgets what was written in here. */
  abandon(): void
}
