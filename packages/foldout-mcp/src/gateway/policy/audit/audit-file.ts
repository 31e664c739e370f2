import { createReadStream, existsSync, renameSync } from 'node:fs'
import { appendFile, chmod, mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ignore } from 'foldout/promises'
import { retryIfInUse } from 'foldout-shared/in-use'
import { isObject } from 'foldout-shared/values'
import { UsageError } from '../../config/config.ts'
import { hasParts } from '../../../shared/fields.ts'
import type { AuditTarget } from './audit.ts'
import type { AuditEntry, AuditFilter, AuditPage, AuditSearch } from './audit-store.ts'

export interface AuditFileSettings {
  readonly file: string
  readonly maxBytes: number
  /** How many rotated files to keep. */
  readonly keep: number
}

/** An audit log in a file, with one line of JSON per call. */
export function openAuditFile(settings: AuditFileSettings): AuditTarget & AuditSearch {
  /** After a failure, the file may end in half a line. */
  let isBroken = false
  let isReady = false
  return {
    title: settings.file,
    canRepeat: false,
    async append(_batch, lines) {
      try {
        if (!isReady) {
          await makePrivate(settings.file)
          isBroken = await endsInHalfLine(settings.file)
          isReady = true
        }
        await append(settings, `${isBroken ? '\n' : ''}${lines.join('\n')}\n`)
        isBroken = false
      } catch (error) {
        isBroken = true
        throw error
      }
    },
    search: (filter) => searchFiles(settings, filter),
  }
}

/** Takes an existing log away from other users. */
async function makePrivate(file: string): Promise<void> {
  const found = await ignore(stat(file), 'there is no log yet')
  // A file of another user keeps its permissions, and is written if they allow it.
  if (found?.isFile() && (found.mode & 0o077) !== 0) await ignore(chmod(file, 0o600), "it is another user's")
}

/** Whether the gateway that wrote the file before was ended in the middle of a line, or its disk was full. */
async function endsInHalfLine(file: string): Promise<boolean> {
  const found = await ignore(stat(file), 'there is no log yet')
  if (!found?.isFile() || found.size === 0) return false
  // A log that cannot be read may still be written.
  const handle = await ignore(open(file, 'r'), 'it may still be written')
  if (!handle) return false
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, found.size - 1)
    return bytesRead === 1 && buffer.toString('latin1') !== '\n'
  } finally {
    await handle.close()
  }
}

/** Opens the file by name each time, because another gateway may have rotated it. */
async function append({ file, maxBytes, keep }: AuditFileSettings, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  // Only the user may read the log.
  await retryIfInUse(() => appendFile(file, text, { mode: 0o600 }))
  if (await isFull({ file, maxBytes })) await ignore(rotate({ file, maxBytes, keep }), 'the next call tries again')
}

async function isFull({ file, maxBytes }: Pick<AuditFileSettings, 'file' | 'maxBytes'>): Promise<boolean> {
  const found = await ignore(stat(file), 'there is no log yet')
  return found !== undefined && found.size >= maxBytes
}

/** Renames the files, unless another gateway has just done so: a second time would push out the oldest one too early. */
async function rotate({ file, maxBytes, keep }: AuditFileSettings): Promise<void> {
  // Only few logs grow this large.
  const { withLock } = await import('foldout/node')
  await withLock(`${file}.lock`, async (lock) => {
    if (!(await isFull({ file, maxBytes }))) return
    lock.commit(() => {
      for (let number = keep; number > 0; number--) {
        const from = number === 1 ? file : `${file}.${number - 1}`
        if (existsSync(from)) renameSync(from, `${file}.${number}`)
      }
    })
  })
}

/** Where a page ended: the time of its last entry, and how many entries with that time it had. */
interface Cursor {
  readonly at: string
  readonly skip: number
}

/** Reads file by file, newest first, until a page is full. Keeps at most one page in memory. */
async function searchFiles({ file, keep }: AuditFileSettings, filter: AuditFilter): Promise<AuditPage> {
  const cursor = filter.after === undefined ? undefined : readCursor(filter.after)
  const fits = compileFilter(filter)
  const found: AuditEntry[] = []
  let skipped = 0
  for (const name of [file, ...Array.from({ length: keep }, (_, i) => `${file}.${i + 1}`)]) {
    const most = filter.limit + 1 + (cursor?.skip ?? 0)
    const entries = await readLast(name, most, (entry) => fits(entry) && (!cursor || entry.at <= cursor.at))
    for (const entry of entries.toReversed()) {
      if (cursor && entry.at === cursor.at && skipped < cursor.skip) skipped++
      else found.push(entry)
      if (found.length > filter.limit) break
    }
    if (found.length > filter.limit) break
  }
  const page = found.slice(0, filter.limit)
  const last = page.at(-1)
  if (!last || found.length <= filter.limit) return { entries: page, next: undefined }
  const same = page.filter(({ at }) => at === last.at).length
  return { entries: page, next: `${last.at}+${cursor?.at === last.at ? cursor.skip + same : same}` }
}

/** The last entries of a file that match. */
async function readLast(
  file: string,
  most: number,
  fits: (entry: AuditEntry) => boolean,
): Promise<readonly AuditEntry[]> {
  let entries: AuditEntry[] = []
  const { createInterface } = process.getBuiltinModule('node:readline')
  try {
    for await (const line of createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })) {
      const entry = parseLine(line)
      if (entry && fits(entry)) entries.push(entry)
      if (entries.length > 2 * most) entries = entries.slice(-most)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return entries
}

/** Skips a line that was cut off or not written by the gateway. */
function parseLine(line: string): AuditEntry | undefined {
  try {
    const value: unknown = JSON.parse(line)
    if (isObject(value) && typeof value['at'] === 'string') return value as unknown as AuditEntry
    return undefined
  } catch {
    return undefined
  }
}

function compileFilter(filter: AuditFilter): (entry: AuditEntry) => boolean {
  const since = filter.since?.toISOString()
  const until = filter.until?.toISOString()
  const toTest = (pattern: string | undefined): ((text: string | undefined) => boolean) => {
    if (pattern === undefined) return () => true
    const parts = pattern.split('*')
    return (text) => text !== undefined && hasParts(text, parts)
  }
  const tool = toTest(filter.tool)
  const user = toTest(filter.user)
  const client = toTest(filter.client?.toLowerCase())
  return (entry) =>
    (since === undefined || entry.at >= since) &&
    (until === undefined || entry.at < until) &&
    (filter.outcome === undefined || entry.outcome === filter.outcome) &&
    tool(entry.tool) &&
    user(entry.client?.user) &&
    client(entry.client?.name?.toLowerCase())
}

function readCursor(after: string): Cursor {
  const [, at = '', skip = ''] = /^(\S+)\+(\d{1,9})$/.exec(after) ?? []
  if (at === '') throw new UsageError(`'${after}' is not the end of a page of this audit log.`)
  return { at, skip: Number(skip) }
}
