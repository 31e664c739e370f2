import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import {
  KEPT_MS,
  KEPT_PER_CLIENT,
  MAX_KEPT_BYTES,
  MAX_SHARED,
  MAX_SHARED_BYTES,
  ROOM_AFTER,
  ROOM_AFTER_BYTES,
} from '../../results/limits.ts'
import type { SharedOwner, SharedResults } from '../../results/shared.ts'
import { hashText } from '../../../shared/hash.ts'
import { toText, type SharedDatabase } from './database.ts'

const compress = promisify(gzip)
const expand = promisify(gunzip)
const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Texts repeat themselves, so the quickest way makes them small enough. */
const QUICKLY = { level: 1 }
const IS_KEPT = `used_at > now() - interval '${KEPT_MS} milliseconds'`

interface ResultRow {
  readonly data: Buffer | null
  readonly is_json: boolean
  readonly kept_by: string
}

/**
 * Keeps a row for each folded result. Results may hold secrets, so a row is encrypted with a key that follows from the handle, and is
 * found by another value that follows from it: the database never has the handle, and who can read the database cannot read the rows.
 */
export function createResultRows({ schema, ask }: SharedDatabase): SharedResults {
  const table = `${schema}.gateway_results`
  const keptBy = toText(`${hostname()}, process ${process.pid}`)
  let written = { results: 0, bytes: 0 }

  /**
   * Removes what has expired. Of too many, removes the oldest of those users who have the most, so that nobody loses theirs to others
   * who keep more. Rarely, because it looks at all rows.
   */
  async function makeRoom(bytes: number): Promise<void> {
    written = { results: written.results + 1, bytes: written.bytes + bytes }
    if (written.results < ROOM_AFTER && written.bytes < ROOM_AFTER_BYTES) return
    written = { results: 0, bytes: 0 }
    const newest = 'OVER (PARTITION BY kept_for ORDER BY used_at DESC, id)'
    await ask(
      'be written',
      `DELETE FROM ${table} WHERE id IN (
        SELECT id FROM ${table} WHERE NOT ${IS_KEPT} OR id IN (
          SELECT id FROM (
            SELECT id, sum(bytes) OVER (ORDER BY share, id) AS total, row_number() OVER (ORDER BY place, used_at DESC, id) AS place
            FROM (
              SELECT id, bytes, used_at, sum(bytes) ${newest} AS share, row_number() ${newest} AS place FROM ${table}
            ) AS shares
          ) AS ranked WHERE total > ${MAX_KEPT_BYTES} OR place > ${MAX_SHARED}
        ) FOR UPDATE SKIP LOCKED
      )`,
    )
  }

  return {
    async save(handle, owner, { text, isJson }) {
      const { id, key } = derive(handle)
      const data = Buffer.byteLength(text) > MAX_SHARED_BYTES ? undefined : await encrypt(text, key, owner)
      const most = owner.isShared ? MAX_SHARED : KEPT_PER_CLIENT
      await ask(
        'be written',
        `WITH dropped AS (
          DELETE FROM ${table} WHERE id IN (
            SELECT id FROM ${table} WHERE owner = $2 ORDER BY used_at DESC, id OFFSET ${most - 1} FOR UPDATE SKIP LOCKED
          )
        )
        INSERT INTO ${table} (id, owner, is_json, data, bytes, kept_by, kept_for) VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (id) DO NOTHING`,
        [id, hashText(owner.key), isJson, data ?? null, data?.length ?? 0, keptBy, hashText(owner.user)],
      )
      await makeRoom(data?.length ?? 0)
    },
    async find(handle, owner) {
      const { id, key } = derive(handle)
      const sql = `UPDATE ${table} SET used_at = now() WHERE id = $1 AND owner = $2 AND ${IS_KEPT} RETURNING data, is_json, kept_by`
      const [row] = (await ask('be read', sql, [id, hashText(owner.key)])).rows as readonly ResultRow[]
      if (!row) return undefined
      if (row.data) return { text: await decrypt(row.data, key, owner), isJson: row.is_json }
      return { keptBy: row.kept_by }
    },
    async renew(handle) {
      await ask('be written', `UPDATE ${table} SET used_at = now() WHERE id = $1 AND ${IS_KEPT}`, [derive(handle).id])
    },
  }
}

function derive(handle: string): { readonly id: string; readonly key: Buffer } {
  const bytes = Buffer.from(hkdfSync('sha256', handle, '', 'foldout:result', 2 * KEY_BYTES))
  return { id: bytes.subarray(KEY_BYTES).toString('hex'), key: bytes.subarray(0, KEY_BYTES) }
}

async function encrypt(text: string, key: Buffer, { key: owner }: SharedOwner): Promise<Buffer> {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(owner))
  const encrypted = cipher.update(await compress(text, QUICKLY))
  return Buffer.concat([nonce, encrypted, cipher.final(), cipher.getAuthTag()])
}

async function decrypt(data: Buffer, key: Buffer, { key: owner }: SharedOwner): Promise<string> {
  const nonce = data.subarray(0, NONCE_BYTES)
  const end = data.length - TAG_BYTES
  const decipher = createDecipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(owner)).setAuthTag(data.subarray(end))
  try {
    const packed = Buffer.concat([decipher.update(data.subarray(NONCE_BYTES, end)), decipher.final()])
    return (await expand(packed, { maxOutputLength: MAX_SHARED_BYTES })).toString('utf8')
  } catch {
    throw new Error('It was changed in the store.')
  }
}
