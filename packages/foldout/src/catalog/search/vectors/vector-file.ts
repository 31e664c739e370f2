import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { ignore } from '../../../core/promises.ts'
import { sha256Hex } from '../../../core/hash.ts'
import { retryIfInUse } from 'foldout-shared/in-use'
import { MAX_VECTOR_FILE_BYTES } from '../limits.ts'
import type { VectorCache } from '../encoder.ts'

/** A key, a vector in base 64 and the beginning of their hash: a line that was not written completely does not match it. */
const LINE = /^([0-9a-f]{32}) ([A-Za-z0-9+/=]+) ([0-9a-f]{8})$/
const NEWLINE = 10
/** How many lines are read before other work may run. */
const LINES_AT_ONCE = 2_000

/**
 * Keeps vectors in a file, so a restarted program does not have to embed its tools again. Several processes may use the
 * same file. A damaged line costs only its own vector. Beyond 64 MB, the file starts over with the vectors in use.
 *
 * @example
 * ```ts
 * const encoder: Encoder = { model: 'my-model 2', embed: myModel.embed, cache: createVectorFile('.cache/foldout/vectors') }
 * const catalog = createCatalog(tools, { embed: encoder })
 * ```
 */
export function createVectorFile(path: string): VectorCache {
  /** The lines of the file by key, as far as it was read. */
  let lines = new Map<string, string>()
  let readAs = ''
  /** Keys that this process has asked for or added. */
  const used = new Set<string>()
  let queue: Promise<unknown> = Promise.resolve()

  /** One at a time, so that two writes of one process do not both start the file over. */
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const turn = queue.then(work)
    queue = ignore(turn, 'the caller is told')
    return turn
  }
  const refresh = async (): Promise<void> => {
    const version = await getVersion(path)
    if (version === readAs) return
    if (version === '') lines = new Map()
    else lines = await readLines(path)
    readAs = version
  }

  return {
    read: (keys) =>
      inTurn(async () => {
        await refresh()
        const found = new Map<string, Int8Array>()
        for (const key of keys) {
          used.add(key)
          const vector = parseVector(lines.get(key))
          if (vector) found.set(key, vector)
        }
        return found
      }),
    write: (vectors) =>
      inTurn(async () => {
        const added = Array.from(vectors, ([key, vector]) => formatLine(key, vector))
        for (const key of vectors.keys()) used.add(key)
        await mkdir(dirname(path), { recursive: true })
        const size = await append(path, added)
        if (size <= MAX_VECTOR_FILE_BYTES) return
        await refresh()
        const kept = [...used].map((key) => lines.get(key)).filter((line) => line !== undefined)
        await replace(path, kept.join('').length <= MAX_VECTOR_FILE_BYTES / 2 ? kept : [])
      }),
  }
}

/** Tells one state of a file from another; empty if there is no file. */
async function getVersion(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await stat(path)
    return `${ino} ${size} ${mtimeMs}`
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}

async function readLines(path: string): Promise<Map<string, string>> {
  const bytes = await readFile(path)
  const lines = new Map<string, string>()
  let count = 0
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, start)
    const line = bytes.toString('latin1', start, end < 0 ? bytes.length : end)
    // The rest of a line is checked when its vector is asked for.
    lines.set(line.slice(0, 32), line)
    if (end < 0) start = bytes.length
    else start = end + 1
    if (++count % LINES_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return lines
}

function formatLine(key: string, vector: Int8Array): string {
  const text = Buffer.from(vector.buffer, vector.byteOffset, vector.length).toString('base64')
  return `${key} ${text} ${getCheck(key, text)}`
}

function parseVector(line: string | undefined): Int8Array | undefined {
  const [, key = '', text = '', check] = LINE.exec(line ?? '') ?? []
  if (check === undefined || check !== getCheck(key, text)) return undefined
  return Int8Array.from(Buffer.from(text, 'base64'))
}

function getCheck(key: string, text: string): string {
  return sha256Hex(`${key} ${text}`).slice(0, 8)
}

/** Appends lines in a single write, so that lines of several processes do not mix, and returns the size of the file. */
async function append(path: string, lines: readonly string[]): Promise<number> {
  const file = await open(path, 'a')
  try {
    // A process that was killed while writing may have left half a line. An empty line between costs nothing.
    const bytes = Buffer.from(`\n${lines.join('\n')}\n`, 'latin1')
    const { bytesWritten } = await file.write(bytes)
    if (bytesWritten !== bytes.length) throw new Error('only a part of them could be written')
    return (await file.stat()).size
  } finally {
    await file.close()
  }
}

/** Replaces the file at once. Vectors that another process adds meanwhile may be lost, and are embedded again some day. */
async function replace(path: string, lines: readonly string[]): Promise<void> {
  const temporary = `${path}.${randomUUID()}`
  try {
    await append(temporary, lines)
    await retryIfInUse(() => rename(temporary, path))
  } finally {
    await rm(temporary, { force: true })
  }
}
