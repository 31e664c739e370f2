import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { chmod, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { HeldLock } from 'foldout/node'
import { ignore } from 'foldout/promises'
import { isMissing } from 'foldout-shared/error-codes'
import { getDataFolder } from '../../shared/surroundings.ts'
import { openKeychain, type Keychain } from './keychain.ts'
import { LOCK_PATIENCE_MS, MAX_CREDENTIAL_BYTES } from './limits.ts'
import { parseSecrets, parseStored, type Secrets, type SignInRecord, type StoredRecord } from './record.ts'

/** Stored sign-ins, shared by all processes of the user or by all gateways of a store. */
export interface SignInStore {
  /** @throws Error if the keychain that holds its secrets cannot be read. */
  read(key: string): Promise<SignInRecord | undefined>
  /** A string that differs whenever a sign-in has changed. */
  getStamp(key: string): Promise<string>
  /**
   * Changes a sign-in under a lock; undefined removes it. If it cannot be written, the change applies to this process only.
   */
  update(key: string, change: SignInChange): Promise<SignInRecord | undefined>
  /** Replaces a sign-in regardless of the old one, whose secrets may be unreadable. */
  replace(key: string, record: SignInRecord | undefined): Promise<void>
  /** Where the secrets are kept. */
  getPlace(): Promise<'keychain' | 'file' | 'database'>
}

export type SignInChange = (record: SignInRecord | undefined) => Promise<SignInRecord | undefined>

export interface SignInStoreOptions {
  readonly env: NodeJS.ProcessEnv
  onProblem(message: string): void
  /** Default: the operating system's. */
  readonly openKeychain?: () => Promise<Keychain | undefined>
}

const OTHERS = 0o077
/** A version that matches no sign-in, not even a missing one. */
const NOTHING = Symbol('nothing')

/** Keeps one file per sign-in, readable only by the user, with its secrets in the keychain if there is one. */
export function createSignInStore(options: SignInStoreOptions): SignInStore {
  return new FileStore(options)
}

class FileStore implements SignInStore {
  readonly #options: SignInStoreOptions
  readonly #folder: string
  /** Changes that could not be written. */
  readonly #unsaved = new Map<string, SignInRecord | undefined>()
  #keychain: Promise<Keychain | undefined> | undefined

  constructor(options: SignInStoreOptions) {
    this.#options = options
    this.#folder = join(getDataFolder(options.env), 'sign-ins')
  }

  async read(key: string): Promise<SignInRecord | undefined> {
    if (this.#unsaved.has(key)) return this.#unsaved.get(key)
    const stored = await this.#find(key)
    if (!stored) return undefined
    const record = await this.#unlock(stored)
    if (record) return record
    // Another process may just have replaced its secrets.
    const again = await this.#find(key)
    return again && this.#unlock(again)
  }

  async getStamp(key: string): Promise<string> {
    try {
      const { mtimeMs, ino, size } = await stat(this.#getFile(key))
      return `${mtimeMs} ${ino} ${size}`
    } catch {
      return ''
    }
  }

  async getPlace(): Promise<'keychain' | 'file'> {
    if (await this.#getKeychain()) return 'keychain'
    return 'file'
  }

  update(key: string, change: SignInChange): Promise<SignInRecord | undefined> {
    return this.#change(key, () => this.read(key), change)
  }

  async replace(key: string, record: SignInRecord | undefined): Promise<void> {
    await this.#change(
      key,
      async () => NOTHING,
      async () => record,
    )
  }

  async #change<Before>(
    key: string,
    readBefore: () => Promise<Before>,
    change: (before: Before) => Promise<SignInRecord | undefined>,
  ): Promise<SignInRecord | undefined> {
    let made: { readonly record: SignInRecord | undefined } | undefined
    let isChanging = false
    const work = async (lock?: HeldLock): Promise<void> => {
      const before = await readBefore()
      isChanging = true
      const record = await change(before)
      isChanging = false
      made = { record }
      if (lock && record !== before) await this.#write(key, record, lock)
    }
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      // Most starts of a gateway change nothing.
      const { withLock } = await import('foldout/node')
      await withLock(`${this.#getFile(key)}.lock`, work, LOCK_PATIENCE_MS)
    } catch (error) {
      // If the change itself fails, the caller handles it.
      if (isChanging || (!made && !isDisk(error))) throw error
      if (!made) await work()
      this.#unsaved.set(key, made?.record)
      this.#options.onProblem(
        `The sign-in cannot be saved, and lasts only until this process ends: ${(error as Error).message}`,
      )
    }
    return made?.record
  }

  #getFile(key: string): string {
    return join(this.#folder, `${key}.json`)
  }

  #getKeychain(): Promise<Keychain | undefined> {
    const { env, openKeychain: open = () => openKeychain(env) } = this.#options
    this.#keychain ??= open()
    return this.#keychain
  }

  async #find(key: string): Promise<StoredRecord | undefined> {
    const file = this.#getFile(key)
    try {
      const { size, mode } = await stat(file)
      if (size > MAX_CREDENTIAL_BYTES) throw new Error('it is too large')
      // A backup or a copy may have made it readable to others.
      if (process.platform !== 'win32' && (mode & OTHERS) !== 0) await chmod(file, 0o600)
      return parseStored(await readFile(file, 'utf8'))
    } catch (error) {
      if (isMissing(error)) return undefined
      // The error does not say what is wrong with the text, because the text is secret.
      this.#options.onProblem(`The sign-in in ${file} cannot be read and is ignored. Sign in again.`)
      return undefined
    }
  }

  async #unlock(stored: StoredRecord): Promise<SignInRecord | undefined> {
    const { secrets } = stored
    if (!('keychain' in secrets)) return toRecord(stored, secrets)
    const keychain = await this.#getKeychain()
    if (!keychain) throw new Error('The keychain that holds the sign-in is not available.')
    const text = await keychain.read(secrets.keychain, secrets.parts)
    if (text === undefined) return undefined
    return toRecord(stored, parseSecrets(text))
  }

  async #write(key: string, record: SignInRecord | undefined, lock: HeldLock): Promise<void> {
    const before = await this.#find(key)
    const keychain = record || before ? await this.#getKeychain() : undefined
    const stored = record && (await toStored(key, record, keychain))
    const forget = async (old: StoredRecord | undefined): Promise<void> => {
      if (!keychain || !old || !('keychain' in old.secrets)) return
      await ignore(keychain.remove(old.secrets.keychain, old.secrets.parts), 'nothing refers to them anymore')
    }
    try {
      lock.commit(() => {
        if (stored) replaceFile(this.#getFile(key), JSON.stringify(stored))
        else rmSync(this.#getFile(key), { force: true })
      })
    } catch (error) {
      // No file refers to these entries.
      await forget(stored)
      throw error
    }
    this.#unsaved.delete(key)
    await forget(before)
  }
}

function toRecord(
  { resource, issuer, discovery, issuedAt, expiresAt, wanted }: StoredRecord,
  { client, tokens }: Secrets,
): SignInRecord {
  // The SDK checks the other fields when it reads them.
  return { resource, issuer, discovery, client, tokens, issuedAt, expiresAt, wanted }
}

async function toStored(key: string, record: SignInRecord, keychain: Keychain | undefined): Promise<StoredRecord> {
  const { client, tokens, ...others } = record
  const secrets = { client, tokens }
  const open = { format: 1, ...others } as unknown as Omit<StoredRecord, 'secrets'>
  if (!keychain) return { ...open, secrets: secrets as StoredRecord['secrets'] }
  const name = `${key}.${randomUUID()}`
  return { ...open, secrets: { keychain: name, parts: await keychain.write(name, JSON.stringify(secrets)) } }
}

/** Whether the folder is read-only, so that no lock can be taken there either. */
function isDisk(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code !== undefined && ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR'].includes(code)
}

/** Replaces a file atomically with one that only the user can read. */
function replaceFile(path: string, text: string): void {
  const draft = `${path}.${randomUUID()}.tmp`
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
