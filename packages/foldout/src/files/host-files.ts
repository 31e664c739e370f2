import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readlink, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, sep } from 'node:path'
import { ignore } from '../core/promises.ts'
import { retryIfInUse } from 'foldout-shared/in-use'
import { FilesystemError, type LineExcerpt, type LineRange } from './filesystem.ts'
import { isFolder, notText, tooLarge } from './filesystem-faults.ts'
import { MAX_FILE_BYTES } from './limits.ts'
import { showPath } from './show-path.ts'

/** A file on the host: its real location, its root, and the path as requested. */
export interface HostPlace {
  readonly real: string
  readonly top: string
  readonly path: string
}

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

export function leadsOut(path: string): FilesystemError {
  return new FilesystemError(`'${showPath(path)}' leads out of the root through a link. Use a path inside the root.`, {
    path,
    reason: 'outside',
  })
}

export function notFileOrFolder(path: string): FilesystemError {
  return new FilesystemError(`'${showPath(path)}' is neither a file nor a folder and cannot be used.`, {
    path,
    reason: 'failed',
  })
}

/** Reads a whole file as text. */
export async function readWhole(place: HostPlace): Promise<string> {
  return decode(place.path, await readBytes(place))
}

/** Reads a whole file of any kind. */
export function readBytes(place: HostPlace): Promise<Uint8Array> {
  return withFile(place, async (file, size) => {
    if (size > MAX_FILE_BYTES) throw tooLarge(place.path, size, MAX_FILE_BYTES)
    return file.readFile()
  })
}

/**
 * Opens a file without following a link that may have replaced it, and without waiting for a pipe. All checks are made on
 * the opened file, not on its path.
 */
async function withFile<Value>(
  place: HostPlace,
  work: (file: FileHandle, size: number) => Promise<Value>,
): Promise<Value> {
  // Windows has neither flag.
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
  const file = await open(place.real, flags).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ELOOP') throw leadsOut(place.path)
    throw error
  })
  try {
    await refuseOutside(file, place)
    const found = await file.stat()
    if (found.isDirectory()) throw isFolder(place.path)
    // A pipe or a device may never end.
    if (!found.isFile()) throw notFileOrFolder(place.path)
    return await work(file, found.size)
  } finally {
    await file.close()
  }
}

/** Linux reports the location of an open file, which reveals whether a folder on its path was replaced with a link. */
async function refuseOutside(file: FileHandle, { top, path }: HostPlace): Promise<void> {
  if (process.platform !== 'linux') return
  const where = await ignore(readlink(`/proc/self/fd/${file.fd}`), 'some systems have no /proc')
  if (where !== undefined && !isWithin(top, where)) throw leadsOut(path)
}

const CHUNK_BYTES = 256 * 1024
const LINE_BREAK = 10

/** Reads some lines of a file of any size, and keeps only those lines in memory. */
export function readLines(place: HostPlace, range: LineRange): Promise<LineExcerpt> {
  return withFile(place, async (file) => {
    const collector = new LineCollector(range)
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES)
      if (bytesRead === 0) break
      collector.add(buffer.subarray(0, bytesRead))
    }
    return collector.finish(place.path)
  })
}

/** Counts lines, and keeps the bytes of the requested ones. */
class LineCollector {
  private readonly range: LineRange
  private readonly kept: Buffer[] = []
  private line: Buffer[] = []
  /** The number of the current line. */
  private lineBytes = 0
  private keptBytes = 0
  private number = 1
  private isDone = false
  private cutLineBytes: number | undefined

  constructor(range: LineRange) {
    this.range = range
  }

  add(chunk: Buffer): void {
    let start = 0
    for (;;) {
      const end = chunk.indexOf(LINE_BREAK, start)
      this.take(chunk.subarray(start, end === -1 ? chunk.length : end))
      if (end === -1) return
      this.endLine()
      start = end + 1
    }
  }

  finish(path: string): LineExcerpt {
    // A line break at the end does not start another line.
    if (this.lineBytes > 0) this.endLine()
    const lines = this.kept.map((bytes, index) =>
      decodeLine(path, bytes, index === 0 && this.cutLineBytes !== undefined),
    )
    const total = this.number - 1
    return { lines, total, ...(this.cutLineBytes !== undefined && { cutLineBytes: this.cutLineBytes }) }
  }

  private get isWanted(): boolean {
    const { first, last = Infinity, maxLines } = this.range
    return !this.isDone && this.number >= first && this.number <= last && this.kept.length < maxLines
  }

  private take(bytes: Buffer): void {
    const room = this.range.maxBytes - this.keptBytes - this.lineBytes
    // Copied, because the chunk's buffer is reused.
    if (this.isWanted && room > 0) this.line.push(Buffer.from(bytes.subarray(0, room)))
    this.lineBytes += bytes.length
  }

  private endLine(): void {
    if (this.isWanted) {
      const isCut = this.keptBytes + this.lineBytes > this.range.maxBytes
      if (isCut && this.kept.length > 0) {
        this.isDone = true
      } else {
        if (isCut) this.cutLineBytes = this.lineBytes
        this.kept.push(Buffer.concat(this.line))
        this.keptBytes += this.lineBytes + 1
        this.isDone = isCut
      }
    }
    this.line = []
    this.lineBytes = 0
    this.number += 1
  }
}

// Rejects invalid UTF-8: writing back a text with replacement characters would corrupt the file.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(path: string, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    throw notText(path, error)
  }
}

function decodeLine(path: string, bytes: Buffer, isCut: boolean): string {
  // The cut may be inside a character.
  const text = isCut
    ? new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true })
    : decode(path, bytes)
  if (text.endsWith('\r')) return text.slice(0, -1)
  return text
}

export const TEMPORARY_NAME = /^\.foldout-[0-9a-f-]{36}\.tmp$/

/** Replaces a file atomically: readers see the old text or the new one, never a mix. */
export async function replaceFile(place: HostPlace, text: string, mode: number | undefined): Promise<void> {
  const temporary = join(dirname(place.real), `.foldout-${randomUUID()}.tmp`)
  try {
    const file = await open(temporary, 'wx')
    try {
      await refuseOutside(file, place)
      await file.writeFile(text, 'utf8')
      if (mode !== undefined) await file.chmod(mode & 0o777)
    } finally {
      await file.close()
    }
    await retryIfInUse(() => rename(temporary, place.real))
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
