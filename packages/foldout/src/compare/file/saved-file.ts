import { closeSync, createReadStream, fstatSync, mkdirSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { FoldoutError, getErrorMessage } from '../../core/errors.ts'
import { holdLock } from '../../prompt/override-store/lock.ts'
import type { SavedHeader, SavedRun } from '../contract/saved.ts'
import { getDigest } from './digests.ts'
import { MAX_LINE_CHARACTERS } from './limits.ts'
import { formatRun, readSavedLine, type TimedEvent } from './saved-lines.ts'

/** What a file has. */
export interface SavedComparison {
  /** The last one; undefined if the file is new. */
  readonly header: SavedHeader | undefined
  readonly runs: readonly SavedRun[]
  /** The texts that it has, by id. */
  readonly texts: ReadonlySet<string>
}

/** The file of a comparison that is running. No other process writes to it. */
export interface SavedFile extends SavedComparison {
  begin(header: SavedHeader): void
  add(run: SavedRun, events: readonly TimedEvent[]): void
  close(): void
}

export async function openSavedFile(path: string): Promise<SavedFile> {
  const release = tryTo(path, () => {
    mkdirSync(dirname(path), { recursive: true })
    return holdLock(`${path}.lock`)
  })
  try {
    const found = await readSavedFile(path)
    const known = new Set(found.texts)
    const file = tryTo(path, () => openSync(path, 'a+'))
    const write = (lines: string): void => tryTo(path, () => writeAll(file, `${getMend(file)}${lines}`))
    return {
      ...found,
      begin: (header) => write(`${JSON.stringify(header)}\n`),
      add: (run, events) => write(formatRun(run, events, known, getDigest)),
      close() {
        closeSync(file)
        release()
      },
    }
  } catch (error) {
    release()
    throw error
  }
}

/** A comparison that cannot be saved must not go on: its runs would be paid again. */
function tryTo<Value>(path: string, work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    throw createFault(`The comparison cannot be saved to '${path}': ${getErrorMessage(error)}`, error)
  }
}

/** A process that was killed while writing may have left half a line, which must not spoil the next one. */
function getMend(file: number): string {
  const { size } = fstatSync(file)
  const last = Buffer.alloc(1)
  const isTorn = size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last.toString('latin1') !== '\n'
  return '\n'.repeat(Number(isTorn))
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
}

/** Reads what a comparison has saved. Lines that were cut off are left out. */
export async function readSavedFile(path: string): Promise<SavedComparison> {
  const runs = new Map<string, SavedRun>()
  const texts = new Set<string>()
  let header: SavedHeader | undefined
  for await (const line of readLines(path)) {
    // What was said is most of the file, and not needed here.
    if (line.startsWith('{"type":"event"')) continue
    const read = readSavedLine(line)
    if (!header && read?.type !== 'header') {
      if (line.trim() === '' || (line.startsWith('{"type":"header"') && !line.endsWith('}'))) continue
      throw createFault(`'${path}' is not a comparison of this version of Foldout. Save to another file.`)
    }
    if (read?.type === 'header') header = read
    if (read?.type === 'run') runs.set(read.run, read)
    if (read?.type === 'text') texts.add(read.id)
  }
  return { header, runs: [...runs.values()], texts }
}

async function* readLines(path: string): AsyncGenerator<string> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return
  let rest = ''
  try {
    for await (const chunk of createReadStream(path, 'utf8') as AsyncIterable<string>) {
      const isPart = !chunk.includes('\n')
      const lines = isPart ? [rest + chunk] : (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > MAX_LINE_CHARACTERS) throw new Error(`a line is longer than ${MAX_LINE_CHARACTERS} characters`)
      yield* lines
    }
  } catch (error) {
    throw createFault(`'${path}' cannot be read: ${getErrorMessage(error)}. Save to another file.`, error)
  }
  if (rest !== '') yield rest
}

function createFault(message: string, cause?: unknown): FoldoutError {
  return new FoldoutError('compare-file', message, { cause })
}
