import { createHash } from 'node:crypto'
import { ignore } from 'foldout/promises'
import { POLL_MS } from './limits.ts'
import type { SharedDatabase } from './database.ts'
import type { Line } from './line.ts'

/** Reports rows that other gateways have written. */
export interface Changes {
  /** Calls a listener when a row's hash has changed, or can be read again. Returns a function that stops it. */
  watch(table: WatchedTable, id: string, listener: () => void): () => void
  /** Runs work periodically while the store is open. */
  everyPoll(job: () => Promise<unknown>): void
  close(): Promise<void>
}

export type WatchedTable = 'gateway_catalogs' | 'gateway_pins'

interface Watch {
  readonly table: WatchedTable
  readonly id: string
  /** Undefined until the row has been read. */
  hash: string | null | undefined
  readonly listener: () => void
}

/**
 * Reads the hashes of all watched rows in one statement: periodically, and immediately when the database announces a
 * change. Where announcements do not arrive, such as behind a pooler that shares connections, polling is enough.
 */
export function watchChanges(database: SharedDatabase, line: Line): Changes {
  const watches = new Set<Watch>()
  const jobs: (() => Promise<unknown>)[] = []
  let timer: ReturnType<typeof setInterval> | undefined
  let polling: Promise<void> | undefined
  let isAgain = false
  let isListening = false

  const poll = (): void => {
    isAgain = true
    polling ??= pollOnce().finally(() => (polling = undefined))
  }
  const pollOnce = async (): Promise<void> => {
    while (isAgain) {
      isAgain = false
      await ignore(look(), 'the next look is soon')
    }
  }
  const look = async (): Promise<void> => {
    if (watches.size === 0) return
    const watched = [...watches]
    const getIds = (table: WatchedTable): readonly string[] =>
      watched.filter((one) => one.table === table).map(({ id }) => id)
    const { schema } = database
    const { rows } = await database.ask(
      'be read',
      `SELECT 'gateway_catalogs' AS name, id, hash FROM ${schema}.gateway_catalogs WHERE id = ANY($1)
       UNION ALL SELECT 'gateway_pins', id, hash FROM ${schema}.gateway_pins WHERE id = ANY($2)`,
      [getIds('gateway_catalogs'), getIds('gateway_pins')],
    )
    const found = new Map((rows as readonly HashRow[]).map(({ name, id, hash }) => [`${name}:${id}`, hash]))
    for (const watch of watched) {
      const hash = found.get(`${watch.table}:${watch.id}`) ?? null
      if (hash === watch.hash) continue
      watch.hash = hash
      if (watches.has(watch)) watch.listener()
    }
  }
  const start = (): void => {
    if (timer) return
    timer = setInterval(() => {
      poll()
      for (const job of jobs) void ignore(job(), 'it runs again with the next poll')
    }, POLL_MS)
    timer.unref()
  }
  const listen = (): void => {
    if (isListening) return
    isListening = true
    line.whenOpen(async (client) => {
      client.on('notification', poll)
      await client.query(`LISTEN ${getChannel(database.schema)}`)
      // Catch up on what was announced while nobody listened.
      poll()
    })
  }
  return {
    watch(table, id, listener) {
      const watch: Watch = { table, id, hash: undefined, listener }
      watches.add(watch)
      start()
      listen()
      return () => watches.delete(watch)
    },
    everyPoll(job) {
      jobs.push(job)
      start()
    },
    async close() {
      clearInterval(timer)
      watches.clear()
      await polling
    },
  }
}

interface HashRow {
  readonly name: string
  readonly id: string
  readonly hash: string | null
}

/** Computed as in the tables' trigger. */
function getChannel(quotedSchema: string): string {
  return `foldout_${createHash('md5').update(quotedSchema.replaceAll('"', '')).digest('hex')}`
}
