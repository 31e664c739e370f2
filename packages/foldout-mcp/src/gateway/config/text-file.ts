import { isUtf8 } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import { formatNumber } from 'foldout-shared/numbers'
import { UsageError } from './config.ts'
import { MAX_CONFIG_BYTES } from './limits.ts'

/**
 * Reads a text file that the user named, without its byte order mark.
 *
 * @throws UsageError that says what is wrong with the file.
 */
export async function readTextFile(file: string): Promise<string> {
  const { size } = await requireFile(file)
  if (size > MAX_CONFIG_BYTES)
    throw new UsageError(
      `${file} is too large: ${formatNumber(size)} bytes. At most ${formatNumber(MAX_CONFIG_BYTES)} are read.`,
    )
  const bytes = await readFile(file).catch((error: Error) => refuse(file, error))
  if (!isUtf8(bytes)) throw new UsageError(`${file} is not UTF-8 text. Save it with the encoding UTF-8.`)
  return bytes.toString('utf8').replace(/^\uFEFF/, '')
}

/** Opening a pipe would wait for somebody who writes to it, and could not be interrupted. */
export async function requireFile(file: string): Promise<{ readonly size: number }> {
  const found = await stat(file).catch((error: Error) => refuse(file, error))
  if (found.isDirectory()) throw new UsageError(`${file} is a folder, not a file.`)
  if (!found.isFile()) throw new UsageError(`${file} is not a regular file.`)
  return found
}

function refuse(file: string, error: NodeJS.ErrnoException): never {
  if (error.code === 'ENOENT') throw new UsageError(`There is no file ${file}.`)
  throw new UsageError(`${file} cannot be read: ${error.message}.`, { cause: error })
}
