import { FilesystemError } from './filesystem.ts'
import { showPath } from './show-path.ts'

// All filesystems share these errors, so a model reads the same wording everywhere.

const namePath = (path: string): string => {
  if (path === '') return 'The root'
  return `'${showPath(path)}'`
}

export function notFound(path: string): FilesystemError {
  return new FilesystemError(
    `${namePath(path)} does not exist. List the folder it should be in to see what is there.`,
    {
      path,
      reason: 'not-found',
    },
  )
}

export function isFolder(path: string): FilesystemError {
  return new FilesystemError(`${namePath(path)} is a folder, not a file. Give the path of a file.`, {
    path,
    reason: 'is-folder',
  })
}

export function notFolder(path: string): FilesystemError {
  return new FilesystemError(`${namePath(path)} is a file, not a folder. Give the path of a folder.`, {
    path,
    reason: 'not-folder',
  })
}

export function belowFile(path: string, file: string): FilesystemError {
  return new FilesystemError(
    `'${showPath(path)}' cannot be written: ${namePath(file)} is a file, not a folder. Choose another path.`,
    {
      path,
      reason: 'not-folder',
    },
  )
}

export function rootRemoved(): FilesystemError {
  return new FilesystemError('The root cannot be removed. Remove its contents.', { path: '', reason: 'invalid-path' })
}

/** An error of the operating system. */
export function couldNotBe(done: string, path: string, why: string, cause: unknown): FilesystemError {
  return new FilesystemError(`${namePath(path)} could not be ${done} (${why}).`, { path, reason: 'failed', cause })
}

/** A file that is too large to load as a whole. */
export function tooLarge(path: string, size: number, most: number): FilesystemError {
  return new FilesystemError(
    `${namePath(path)} has ${size} bytes and cannot be read as a whole; at most ${most} can. Read some of its lines with start_line and end_line.`,
    { path, reason: 'failed' },
  )
}

/** A file whose bytes are not text. */
export function notText(path: string, cause: unknown): FilesystemError {
  return new FilesystemError(`${namePath(path)} is not a text file in UTF-8 and cannot be read.`, {
    path,
    reason: 'failed',
    cause,
  })
}
