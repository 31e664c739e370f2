import type { Filesystem } from '../../files/filesystem.ts'
import { createMemoryFilesystem } from '../../files/memory-filesystem.ts'

/** Files in memory that remember which of them were written. */
export interface RecordingFilesystem {
  readonly filesystem: Filesystem
  /** The files written since this was last asked. */
  takeWritten(): readonly string[]
}

export function createRecordingFilesystem(): RecordingFilesystem {
  // Without transactions, in which a file could be written unseen.
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
