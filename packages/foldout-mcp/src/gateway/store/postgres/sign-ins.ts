import { randomUUID } from 'node:crypto'
import pLimit from 'p-limit'
import type { PostgresClient } from 'foldout-fleet'
import { LOCK_PATIENCE_MS } from '../../auth/limits.ts'
import { parseRecord, type SignInRecord } from '../../auth/record.ts'
import type { SignInChange, SignInStore } from '../../auth/store.ts'
import { MAX_RENEWALS, STATEMENT_TIMEOUT_MS } from './limits.ts'
import type { Changes } from './changes.ts'
import type { Cipher } from './cipher.ts'
import type { SharedDatabase } from './database.ts'

/** Keeps one encrypted row per sign-in. */
export function createSignInRows(
  database: SharedDatabase,
  changes: Changes,
  options: { readonly cipher: Cipher; onProblem(message: string): void },
): SignInStore {
  return new RowStore(database, changes, options)
}

interface SignInRow {
  readonly version: string
  readonly record: Buffer
}

interface Kept {
  readonly version: string
  readonly record: SignInRecord
}

class RowStore implements SignInStore {
  readonly #database: SharedDatabase
  readonly #changes: Changes
  readonly #cipher: Cipher
  readonly #onProblem: (message: string) => void
  readonly #table: string
  /** Each renewal holds a connection while the authorization server answers. */
  readonly #limit = pLimit(MAX_RENEWALS)
  readonly #stamps = new Map<string, string>()
  /** Changes that could not be written yet. They apply until they can be. */
  readonly #unsaved = new Map<string, { readonly record: SignInRecord | undefined; readonly stamp: string }>()
  #isSaving = false

  constructor(
    database: SharedDatabase,
    changes: Changes,
    { cipher, onProblem }: { readonly cipher: Cipher; onProblem(message: string): void },
  ) {
    this.#database = database
    this.#changes = changes
    this.#cipher = cipher
    this.#onProblem = onProblem
    this.#table = `${database.schema}.gateway_sign_ins`
  }

  async read(key: string): Promise<SignInRecord | undefined> {
    const unsaved = this.#unsaved.get(key)
    if (unsaved) return unsaved.record
    const { rows } = await this.#database.run('be read', this.#select, [key])
    return this.#decrypt(key, rows as readonly SignInRow[])?.record
  }

  async getStamp(key: string): Promise<string> {
    const unsaved = this.#unsaved.get(key)
    if (unsaved) return unsaved.stamp
    try {
      const { rows } = await this.#database.ask('be read', `SELECT version FROM ${this.#table} WHERE key = $1`, [key])
      const [row] = rows as readonly { readonly version: string }[]
      this.#stamps.set(key, row?.version ?? '')
    } catch (error) {
      // While the database is unreachable, the known sign-in stays in use.
      if (!this.#stamps.has(key)) throw error
    }
    return this.#stamps.get(key) ?? ''
  }

  async getPlace(): Promise<'database'> {
    return 'database'
  }

  update(key: string, change: SignInChange): Promise<SignInRecord | undefined> {
    return this.#limit(async () => {
      const state: { made?: { readonly record: SignInRecord | undefined }; failure?: unknown } = {}
      try {
        return await this.#withLock(key, async (client) => {
          const { rows } = await client.query(this.#select, [key])
          const unsaved = this.#unsaved.get(key)
          const before = unsaved ? unsaved.record : this.#decrypt(key, rows as readonly SignInRow[])?.record
          const record = await change(before).catch((error: unknown) => {
            state.failure = error
            throw error
          })
          state.made = { record }
          if (record !== before || unsaved) await this.#write(client, key, record)
          return record
        })
      } catch (error) {
        // If the change itself fails, the caller gets its error unchanged.
        if ('failure' in state) throw state.failure
        if (!state.made) throw error
        this.#keepUnsaved(key, state.made.record, error)
        return state.made.record
      }
    })
  }

  async replace(key: string, record: SignInRecord | undefined): Promise<void> {
    await this.#withLock(key, (client) => this.#write(client, key, record))
    this.#unsaved.delete(key)
  }

  get #select(): string {
    return `SELECT version, record FROM ${this.#table} WHERE key = $1`
  }

  /** Runs work under a lock across machines. The lock belongs to the transaction, so it also ends with the connection. */
  #withLock<Result>(key: string, work: (client: PostgresClient) => Promise<Result>): Promise<Result> {
    return this.#database.inTransaction('be written', async (client) => {
      await client.query(`SET LOCAL lock_timeout = ${LOCK_PATIENCE_MS}`)
      // A machine that stops in the middle must not keep the others waiting.
      await client.query(`SET LOCAL idle_in_transaction_session_timeout = ${STATEMENT_TIMEOUT_MS}`)
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [`${this.#table}:${key}`])
      return work(client)
    })
  }

  async #write(client: PostgresClient, key: string, record: SignInRecord | undefined): Promise<void> {
    if (!record) {
      await client.query(`DELETE FROM ${this.#table} WHERE key = $1`, [key])
      return
    }
    await client.query(
      `INSERT INTO ${this.#table} (key, version, record) VALUES ($1, $2, $3)
       ON CONFLICT (key) DO UPDATE SET version = excluded.version, record = excluded.record`,
      [key, randomUUID(), this.#cipher.encrypt(JSON.stringify(record), getLabel(key))],
    )
  }

  #decrypt(key: string, [row]: readonly SignInRow[]): Kept | undefined {
    if (!row) return undefined
    return { version: row.version, record: parseRecord(this.#cipher.decrypt(row.record, getLabel(key))) }
  }

  #keepUnsaved(key: string, record: SignInRecord | undefined, error: unknown): void {
    if (this.#unsaved.size === 0) this.#changes.everyPoll(() => this.#saveAll())
    this.#unsaved.set(key, { record, stamp: `unsaved ${randomUUID()}` })
    this.#onProblem(`A sign-in cannot be saved yet, and is retried until it can be: ${(error as Error).message}`)
  }

  async #saveAll(): Promise<void> {
    if (this.#isSaving || this.#unsaved.size === 0) return
    this.#isSaving = true
    try {
      for (const [key, unsaved] of this.#unsaved) {
        await this.#withLock(key, async (client) => {
          const { rows } = await client.query(this.#select, [key])
          const kept = this.#decrypt(key, rows as readonly SignInRow[])?.record
          // Another machine may have renewed it since.
          const isNewer = kept?.tokens !== undefined && kept.issuedAt > (unsaved.record?.issuedAt ?? Infinity)
          if (!isNewer) await this.#write(client, key, unsaved.record)
        })
        if (this.#unsaved.get(key) === unsaved) this.#unsaved.delete(key)
      }
    } finally {
      this.#isSaving = false
    }
  }
}

/** The label of a row, so that a copy under another key cannot be decrypted. */
function getLabel(key: string): string {
  return `foldout:sign-in:${key}`
}
