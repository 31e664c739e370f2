import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { ignore } from 'foldout/promises'
import { hashText } from '../../../shared/hash.ts'
import { createPins, type PinStore, type PinStorage } from '../../policy/pins/pins.ts'
import { identifyServer, isSnapshot, type CatalogCache } from '../../upstreams/catalog-cache.ts'
import { CACHE_FRESH_MS } from '../../upstreams/limits.ts'
import { hashSnapshot } from '../../model/snapshot.ts'
import { TURN_MS, TURN_PAUSE_MS } from './limits.ts'
import type { Changes } from './changes.ts'
import { toText, type SharedDatabase } from './database.ts'

/** Keeps one row per server, with a hash of its snapshot. An unchanged row is not written. */
export function createCatalogRows(
  database: SharedDatabase,
  changes: Changes,
  onProblem: (message: string) => void,
): CatalogCache {
  const table = `${database.schema}.gateway_catalogs`
  return {
    async read(server) {
      try {
        const { rows } = await database.run(
          'be read',
          `SELECT hash, snapshot, extract(epoch FROM now() - saved_at) * 1000 AS age FROM ${table} WHERE id = $1`,
          [identifyServer(server)],
        )
        const [row] = rows as readonly CatalogRow[]
        if (!row) return undefined
        const snapshot: unknown = JSON.parse(row.snapshot)
        if (!isSnapshot(snapshot) || hashSnapshot(snapshot) !== row.hash) throw new Error('Its row is damaged.')
        return { snapshot, savedAt: Date.now() - Math.max(0, Number(row.age)) }
      } catch (error) {
        onProblem(`The tools of '${server.name}' cannot be read from the store: ${(error as Error).message}`)
        return undefined
      }
    },
    async write(server, snapshot) {
      try {
        // One statement, so that gateways write one after the other, and writing the same twice announces nothing.
        await database.run(
          'be written',
          `INSERT INTO ${table} AS known (id, server, hash, snapshot) VALUES ($1, $2, $3, $4)
           ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, snapshot = excluded.snapshot, saved_at = now()`,
          [identifyServer(server), toText(server.name), hashSnapshot(snapshot), JSON.stringify(snapshot)],
        )
        return true
      } catch (error) {
        onProblem(`The tools of '${server.name}' cannot be kept in the store: ${(error as Error).message}`)
        return false
      }
    },
    // Gateways with a database run for long: their clients seldom come while they start.
    hasFailed: async () => false,
    noteFailure: async () => undefined,
    learn: (server, ask) => takeTurn(database, identifyServer(server), ask),
    watch: (server, listener) => changes.watch('gateway_catalogs', identifyServer(server), listener),
  }
}

/** Waits for the turn of this gateway, unless the row is fresh. Who holds the turn may be gone, so it is not waited for long. */
async function takeTurn({ schema, ask }: SharedDatabase, id: string, work: () => Promise<void>): Promise<void> {
  const turns = `${schema}.gateway_turns`
  const by = randomUUID()
  const claim = async (): Promise<TurnRow> => {
    const { rows } = await ask(
      'be written',
      `WITH claimed AS (
        INSERT INTO ${turns} AS taken (id, by, until) VALUES ($1, $2, now() + interval '${TURN_MS} milliseconds')
        ON CONFLICT (id) DO UPDATE SET by = excluded.by, until = excluded.until
        WHERE taken.until < now() OR taken.by = excluded.by RETURNING id
      ) SELECT EXISTS (SELECT FROM claimed) AS is_taken, EXISTS (
        SELECT FROM ${schema}.gateway_catalogs
        WHERE id = $1 AND saved_at > now() - interval '${CACHE_FRESH_MS} milliseconds'
      ) AS is_fresh`,
      [id, by],
    )
    return (rows as readonly TurnRow[])[0] ?? ALONE
  }
  try {
    const patience = AbortSignal.timeout(TURN_MS)
    for (;;) {
      // Without the database, each gateway asks for itself.
      const { is_taken: isTaken, is_fresh: isFresh } = await claim().catch(() => ALONE)
      if (isFresh) return
      if (isTaken || patience.aborted) break
      await sleep(TURN_PAUSE_MS)
    }
    await work()
  } finally {
    await ignore(
      ask('be written', `DELETE FROM ${turns} WHERE id = $1 AND by = $2`, [id, by]),
      'the turn expires by itself',
    )
  }
}

interface TurnRow {
  readonly is_taken: boolean
  readonly is_fresh: boolean
}

const ALONE: TurnRow = { is_taken: true, is_fresh: false }

interface CatalogRow {
  readonly hash: string
  readonly snapshot: string
  readonly age: string
}

/** Keeps one row per server, with the accepted and the waiting definitions. */
export function createPinRows(
  database: SharedDatabase,
  changes: Changes,
  onProblem: (message: string) => void,
): PinStore {
  const table = `${database.schema}.gateway_pins`
  const storage: PinStorage = {
    async read(id, part) {
      const { rows } = await database.run('be read', `SELECT ${part} AS text FROM ${table} WHERE id = $1`, [id])
      const [row] = rows as readonly { readonly text: string | null }[]
      if (typeof row?.text === 'string') return JSON.parse(row.text) as unknown
      return undefined
    },
    async create(id, { pin, pinned }) {
      const { rowCount } = await database.run(
        'be written',
        `INSERT INTO ${table} AS known (id, hash, pin, pinned) VALUES ($1, $2, $3, $4)
         ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, pin = excluded.pin, pinned = excluded.pinned
         WHERE known.pin IS NULL`,
        [id, hashText(pin), pin, pinned],
      )
      return rowCount === 1
    },
    async writeSeen(id, seen) {
      await database.run(
        'be written',
        `INSERT INTO ${table} (id, seen) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`,
        [id, seen ?? null],
      )
    },
    async change(id, change) {
      await database.inTransaction('be written', async (client) => {
        // Others wait, and then read what this transaction wrote.
        await client.query(`SELECT FROM ${table} WHERE id = $1 FOR UPDATE`, [id])
        const { pin, pinned } = await change()
        await client.query(`UPDATE ${table} SET hash = $2, pin = $3, pinned = $4 WHERE id = $1`, [
          id,
          hashText(pin),
          pin,
          pinned,
        ])
      })
    },
    async list(part) {
      const { rows } = await database.run('be read', `SELECT id FROM ${table} WHERE ${part} IS NOT NULL ORDER BY id`)
      return (rows as readonly { readonly id: string }[]).map(({ id }) => id)
    },
    watch: (id, listener) => changes.watch('gateway_pins', id, listener),
  }
  return createPins(storage, onProblem)
}
