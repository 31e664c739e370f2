import type { Filesystem } from '../../files/filesystem.ts'
import { createMemoryFilesystem } from '../../files/memory-filesystem.ts'

/** A filesystem in memory that remembers which files were written. */
export interface RecordingFilesystem {
  readonly filesystem: Filesystem
  /** Returns the files written since the last call. */
  takeWritten(): readonly string[]
}

export function createRecordingFilesystem(): RecordingFilesystem {
  // Without transactions, because writes inside one would not be noticed here.
  const { begin: _, ...files } = createMemoryFilesystem()
  let written: readonly string[] = []
  return {
    filesystem: {
      ...files,
      write(path, text) {
        written = [...written, path]
        return files.write(path, text)
      },
    },
    takeWritten() {
      const taken = written
      written = []
      return taken
    },
  }
}
