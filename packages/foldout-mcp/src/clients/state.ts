import { chmod, open, readdir, readFile, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import * as v from 'valibot'
import { boolean, list, object, parse, ShapeError, string } from '../gateway/shapes.ts'
import { isRunning } from '../gateway/surroundings.ts'
import { createFolders, findFile, hashText, isMissing, replaceFile, type FoundFile } from './files.ts'
import { LOCK_STALE_MS, LOCK_TIMEOUT_MS } from './limits.ts'

const strings = v.pipe(list(string), v.readonly())

/** A change to the gateway's configuration. */
const configChangeSchema = object({
  /** The text before; null if there was no file. */
  before: v.nullable(string),
  /** The hash of the text after. */
  after: string,
  createdFolders: strings,
  /** The servers that were added. */
  added: strings,
})

/** A record of what an installation did to a file, so that it can be undone exactly. */
const receiptSchema = object({
  client: string,
  file: string,
  name: string,
  path: strings,
  isList: boolean,
  /** Whether the installation created the object that holds the servers. */
  isNewContainer: boolean,
  /** The text before; null if there was no file. */
  before: v.nullable(string),
  /** The hash of the text after. */
  after: string,
  createdFolders: strings,
  /** The entries that were removed from the file, unchanged. */
  moved: v.pipe(list(v.pipe(v.tuple([string, v.unknown()]), v.readonly())), v.readonly()),
  /** The configuration of the gateway. */
  config: string,
  /** The change to it. */
  configChange: v.nullable(configChangeSchema),
})

export type Receipt = Readonly<v.InferOutput<typeof receiptSchema>>
export type ConfigChange = Readonly<v.InferOutput<typeof configChangeSchema>>

/** The state Foldout keeps between commands: receipts, backups and locks. It holds secrets, so only the user can read it. */
export interface State {
  readReceipt(file: string): Promise<Receipt | undefined>
  /** The receipts of all files. */
  listReceipts(): Promise<readonly Receipt[]>
  writeReceipt(receipt: Receipt): Promise<void>
  removeReceipt(file: string): Promise<void>
  /** Backs up a file, if it exists. Returns the path of the backup. */
  keepBackup(found: FoundFile): Promise<string | undefined>
  /** Runs work while no other command can change the file. */
  withLock<Result>(file: string, work: () => Promise<Result>): Promise<Result>
}

export function createState(folder: string): State {
  const receipts = join(folder, 'installed')
  const getReceiptFile = (file: string): string => join(receipts, `${getKey(file)}.json`)
  return {
    readReceipt: (file) => parseReceipt(getReceiptFile(file)),
    async listReceipts() {
      const names = await readdir(receipts).catch(() => [])
      const all = await Promise.all(names.map((name) => parseReceipt(join(receipts, name))))
      return all.flatMap((receipt) => receipt ?? [])
    },
    async writeReceipt(receipt) {
      await createPrivateFolder(folder, 'installed')
      await replaceFile(await findFile(getReceiptFile(receipt.file)), JSON.stringify(receipt))
    },
    removeReceipt: (file) => rm(getReceiptFile(file), { force: true }),
    async keepBackup({ path, text }) {
      if (text === undefined) return undefined
      const place = await createPrivateFolder(folder, 'backups')
      const backup = join(place, `${getKey(path)}-${hashText(text).slice(0, 12)}`)
      await replaceFile({ ...(await findFile(backup)), mode: 0o600 }, text)
      return backup
    },
    async withLock(file, work) {
      const place = await createPrivateFolder(folder, 'locks')
      return holdLock(join(place, getKey(file)), work)
    },
  }
}

async function parseReceipt(file: string): Promise<Receipt | undefined> {
  try {
    return parse(receiptSchema, JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    // A damaged receipt is treated as missing: the entry is then cut out of the file.
    if (isMissing(error) || error instanceof SyntaxError || error instanceof ShapeError) return undefined
    throw error
  }
}

/** A readable name, different for each file. */
function getKey(file: string): string {
  const name = file.replaceAll(/[^A-Za-z0-9.]+/g, '-').slice(-60)
  return `${name}-${hashText(file).slice(0, 12)}`
}

async function createPrivateFolder(folder: string, name: string): Promise<string> {
  const place = join(folder, name)
  await createFolders(place, 0o700)
  await chmod(folder, 0o700).catch(() => undefined)
  return place
}

async function holdLock<Result>(lock: string, work: () => Promise<Result>): Promise<Result> {
  const end = Date.now() + LOCK_TIMEOUT_MS
  while (!(await takeLock(lock))) {
    if (Date.now() > end)
      throw new Error(`Another command is changing the same file. If none is running, remove ${lock}.`)
    await wait(20)
  }
  const refresh = setInterval(() => {
    const now = new Date()
    void utimes(lock, now, now).catch(() => undefined)
  }, LOCK_STALE_MS / 4)
  try {
    return await work()
  } finally {
    clearInterval(refresh)
    await rm(lock, { force: true })
  }
}

async function takeLock(lock: string): Promise<boolean> {
  try {
    const handle = await open(lock, 'wx', 0o600)
    await handle.writeFile(String(process.pid))
    await handle.close()
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    if (await isStale(lock)) await rm(lock, { force: true })
    return false
  }
}

/** Whether the process that took a lock has ended without releasing it. */
async function isStale(lock: string): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(lock)
    if (Date.now() - mtimeMs > LOCK_STALE_MS) return true
    const pid = Number(await readFile(lock, 'utf8'))
    return pid > 0 && !isRunning(pid)
  } catch {
    return false
  }
}
