import { pg } from 'foldout-fleet'
import type { Client } from 'pg'
import { ignore } from 'foldout/promises'
import type { SharedDatabase } from './database.ts'

/** A connection to the database that is kept open, and opened again whenever it ends. */
export interface Line {
  /** Runs work on the current connection and on every later one. */
  whenOpen(job: (client: Client) => Promise<void>): void
  close(): Promise<void>
}

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000

/** Opens a connection outside the pool when it is first needed, for state that belongs to one connection, such as a lock. */
export function openLine({ settings }: Pick<SharedDatabase, 'settings'>): Line {
  const jobs: ((client: Client) => Promise<void>)[] = []
  let client: Client | undefined
  let isClosed = false
  let isOpening = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let pauseMs = FIRST_PAUSE_MS

  const open = async (): Promise<void> => {
    if (isClosed || isOpening || client) return
    isOpening = true
    let opened: Client | undefined
    try {
      opened = new pg.Client(settings)
      opened.on('error', () => undefined)
      await opened.connect()
      if (isClosed) {
        await opened.end()
        return
      }
      const lost = opened
      opened.once('end', () => {
        if (client === lost) client = undefined
        openLater()
      })
      client = opened
      pauseMs = FIRST_PAUSE_MS
      for (const job of jobs) await job(opened)
    } catch {
      client = undefined
      // The pool reports that the database is unreachable.
      if (opened) await ignore(opened.end(), 'the pool says that the database is unreachable')
      openLater()
    } finally {
      isOpening = false
    }
  }
  const openLater = (): void => {
    clearTimeout(timer)
    if (isClosed) return
    timer = setTimeout(() => void open(), pauseMs)
    timer.unref()
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }
  return {
    whenOpen(job) {
      jobs.push(job)
      if (client) void ignore(job(client), 'it runs again after the next connection')
      else void open()
    },
    async close() {
      isClosed = true
      clearTimeout(timer)
      if (client) await ignore(client.end(), 'the connection is lost already')
    },
  }
}
