import { FilesystemError } from './filesystem.ts'
import { showPath } from './show-path.ts'

// What every filesystem says in the same words, so that a model meets one language whatever holds the files.

const named = (path: string): string => (path === '' ? 'The root' : `'${showPath(path)}'`)

export function notFound(path: string): FilesystemError {
  return new FilesystemError(`${named(path)} does not exist. List the folder it should be in to see what is there.`, {
    path,
    reason: 'not-found',
  })
}

export function isFolder(path: string): FilesystemError {
  return new FilesystemError(`${named(path)} is a folder, not a file. Give the path of a file.`, {
    path,
    reason: 'is-folder',
  })
}

export function notFolder(path: string): FilesystemError {
  return new FilesystemError(`${named(path)} is a file, not a folder. Give the path of a folder.`, {
    path,
    reason: 'not-folder',
  })
}

export function belowFile(path: string, file: string): FilesystemError {
  return new FilesystemError(
    `'${showPath(path)}' cannot be written: ${named(file)} is a file, not a folder. Choose another path.`,
    {
      path,
      reason: 'not-folder',
    },
  )
}

export function rootRemoved(): FilesystemError {
  return new FilesystemError('The root cannot be removed. Remove what is in it.', { path: '', reason: 'invalid-path' })
}

/** For what the machine below refuses. */
export function couldNotBe(done: string, path: string, why: string, cause: unknown): FilesystemError {
  return new FilesystemError(`${named(path)} could not be ${done} (${why}).`, { path, reason: 'failed', cause })
}

/** A file that would take too much memory as a whole. */
export function tooLarge(path: string, size: number, most: number): FilesystemError {
  return new FilesystemError(
    `${named(path)} has ${size} bytes and cannot be read as a whole; at most ${most} can. Read some of its lines with start_line and end_line.`,
    { path, reason: 'failed' },
  )
}

/** A file whose bytes are not text. */
export function notText(path: string, cause: unknown): FilesystemError {
  return new FilesystemError(`${named(path)} is not a text file in UTF-8 and cannot be read.`, {
    path,
    reason: 'failed',
    cause,
  })
}
