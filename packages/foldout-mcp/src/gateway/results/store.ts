import { randomBytes, randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ignore } from 'foldout/promises'
import { createResultFolder, removeDeadFolders } from './folder.ts'
import { IN_MEMORY_BYTES, KEPT_MS, KEPT_PER_CLIENT, MAX_KEPT, MAX_KEPT_BYTES, SWEEP_AFTER_MS } from './limits.ts'
import type { SharedOwner } from './shared.ts'
import type { ResultSource } from './thread/job.ts'

/** The owner of a result. The key is the same for all calls of one client. If it is shared, only the handle protects a result. */
export type ResultOwner = SharedOwner

/** A result that was folded. */
export interface KeptResult {
  /** Unguessable. */
  readonly handle: string
  readonly source: ResultSource
  /** Whether it is JSON, which is known once it has been looked at. */
  isJson: boolean
}

interface Entry extends KeptResult {
  readonly owner: string
  readonly user: string
  readonly bytes: number
  usedAt: number
}

/** Why a file that cannot be removed is ignored. */
const LEFT = 'the next gateway removes it'

/** Keeps folded results while they may be read: small ones in memory, others in this user's files. */
export class ResultStore {
  /** The least recently used comes first. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0
  #folder: Promise<string> | undefined
  #timer: ReturnType<typeof setInterval> | undefined
  #isClosed = false
  /** Removes what killed gateways have left. Not at once, because a client waits for a start. */
  readonly #sweep = setTimeout(() => void removeDeadFolders(), SWEEP_AFTER_MS).unref()
  readonly #onFolder: (folder: string) => void

  /** @param onFolder Called with the folder of the files, when there is one. */
  constructor(onFolder: (folder: string) => void = () => undefined) {
    this.#onFolder = onFolder
  }

  /** Keeps a text, under a handle that another gateway has given it or a new one. Rejects if it is too large, or cannot be written. */
  async keep(owner: ResultOwner, text: string, handle = randomBytes(12).toString('hex')): Promise<KeptResult> {
    const bytes = Buffer.byteLength(text)
    if (this.#isClosed) throw new Error('the gateway is closing')
    if (bytes > MAX_KEPT_BYTES) throw new Error('it is too large')
    const entry: Entry = {
      handle,
      owner: owner.key,
      user: owner.user,
      source: bytes > IN_MEMORY_BYTES ? { file: await this.#write(text) } : { text },
      isJson: false,
      bytes,
      usedAt: Date.now(),
    }
    // After the text is written, because several may be written at a time, also of the same result.
    const before = this.#entries.get(handle)
    if (before) this.#drop(before)
    this.#makeRoom(owner, bytes)
    this.#entries.set(entry.handle, entry)
    this.#bytes += bytes
    this.#timer ??= setInterval(() => this.#dropExpired(), KEPT_MS / 10).unref()
    return entry
  }

  /** Finds a result of this owner that is still kept. */
  find(owner: ResultOwner, handle: string): KeptResult | undefined {
    this.#dropExpired()
    const entry = this.#entries.get(handle)
    if (!entry || entry.owner !== owner.key) return undefined
    entry.usedAt = Date.now()
    this.#entries.delete(handle)
    this.#entries.set(handle, entry)
    return entry
  }

  /** Drops the results of an owner that has gone. */
  dropAll({ key }: ResultOwner): void {
    for (const entry of Array.from(this.#entries.values())) if (entry.owner === key) this.#drop(entry)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    clearTimeout(this.#sweep)
    this.#entries.clear()
    const folder = await (this.#folder && ignore(this.#folder, 'a folder that was not created needs no removal'))
    if (folder !== undefined) await ignore(rm(folder, { recursive: true, force: true }), LEFT)
  }

  /** Removes the oldest results of those users who have the most, so that nobody loses theirs to others who keep more. */
  #makeRoom({ key, isShared, user }: ResultOwner, bytes: number): void {
    this.#dropExpired()
    const own = [...this.#entries.values()].filter(({ owner }) => owner === key)
    if (!isShared && own.length >= KEPT_PER_CLIENT && own[0]) this.#drop(own[0])
    while (this.#entries.size >= MAX_KEPT || this.#bytes + bytes > MAX_KEPT_BYTES) {
      const isFull = this.#entries.size >= MAX_KEPT
      const oldest = this.#findOldestOfLargest(isFull ? () => 1 : (entry) => entry.bytes, [user, isFull ? 1 : bytes])
      if (!oldest) return
      this.#drop(oldest)
    }
  }

  /** The oldest result of the user whose results weigh the most, with what this user wants to add. */
  #findOldestOfLargest(weigh: (entry: Entry) => number, [user, more]: readonly [string, number]): Entry | undefined {
    const weights = new Map([[user, more]])
    const oldest = new Map<string, Entry>()
    for (const entry of this.#entries.values()) {
      weights.set(entry.user, (weights.get(entry.user) ?? 0) + weigh(entry))
      if (!oldest.has(entry.user)) oldest.set(entry.user, entry)
    }
    const [largest] = [...oldest].toSorted(([a], [b]) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0))
    return largest?.[1]
  }

  #dropExpired(): void {
    const oldest = Date.now() - KEPT_MS
    for (const entry of Array.from(this.#entries.values())) {
      if (entry.usedAt > oldest) return
      this.#drop(entry)
    }
  }

  #drop(entry: Entry): void {
    this.#entries.delete(entry.handle)
    this.#bytes -= entry.bytes
    if ('file' in entry.source) void ignore(rm(entry.source.file, { force: true }), LEFT)
  }

  async #write(text: string): Promise<string> {
    this.#folder ??= this.#createFolder()
    // If there is no folder for this result, the next one tries again.
    this.#folder.catch(() => (this.#folder = undefined))
    const file = join(await this.#folder, randomUUID())
    try {
      await writeFile(file, text, { mode: 0o600, flag: 'wx' })
      if (this.#isClosed) throw new Error('the gateway is closing')
      return file
    } catch (error) {
      await ignore(rm(file, { force: true }), LEFT)
      throw error
    }
  }

  async #createFolder(): Promise<string> {
    void removeDeadFolders()
    const folder = await createResultFolder()
    this.#onFolder(folder)
    return folder
  }
}
