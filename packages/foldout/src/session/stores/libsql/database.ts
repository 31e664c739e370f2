import { getErrorCode } from 'foldout-shared/error-codes'
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type Libsql from 'libsql'
import { FoldoutError, getErrorMessage } from '../../../core/errors.ts'
import { importPeer } from '../../../core/peer.ts'

export type Connection = Libsql.Database

// "FLDT" in the file header, so another program's database is not mistaken for a session store.
const APPLICATION_ID = 0x46_4c_44_54
const SCHEMA_VERSION = 2
/** Version 1 had no leases. */
const LEASES = `
  CREATE TABLE IF NOT EXISTS leases (
    session TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    beat INTEGER NOT NULL,
    ms REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${SCHEMA_VERSION};
`
const SCHEMA = `
  CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    snapshot TEXT,
    sequence INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE events (
    session TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    event TEXT NOT NULL,
    scope TEXT NOT NULL,
    PRIMARY KEY (session, sequence)
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  ${LEASES}
`
const BUSY_TIMEOUT_MS = 10_000

/** Opens or creates the file of a session store. A file that is not a session store is left unchanged. */
export async function openDatabase(file: string, createFolder: boolean): Promise<Connection> {
  const { default: Database } = await importPeer('libsql', () => import('libsql'))
  const connect = (name: string): Connection => new Database(name, { timeout: BUSY_TIMEOUT_MS })
  return nameFile(file, 'be opened', () => {
    if (createFolder) mkdirSync(dirname(file), { recursive: true })
    else refuseMissingFolder(file)
    refuseForeign(file, connect)
    const db = connect(file)
    try {
      prepareFile(file, db)
      return db
    } catch (error) {
      db.close()
      throw error
    }
  })
}

/** A missing folder is usually a typo in the path, so it is not created by default. */
function refuseMissingFolder(file: string): void {
  const folder = dirname(file)
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  throw new FoldoutError(
    'store-failed',
    `The session store ${file} could not be opened: ${found ? `${folder} is not a folder` : `the folder ${folder} does not exist`}. Create it, or pass createFolder: true.`,
  )
}

/**
 * Inspects the file through a read-only connection. `node:fs` would not work: closing the file there drops the locks
 * that other connections of this process hold on it.
 */
function refuseForeign(file: string, connect: (name: string) => Connection): void {
  if (getSize(file) === 0) {
    if (getSize(`${file}-wal`) === 0) return
    throw corrupt(file, `it is empty, but ${file}-wal is not`)
  }
  const db = connect(`${pathToFileURL(file).href}?mode=ro`)
  try {
    isEmpty(file, db)
  } catch (error) {
    // A process was killed while it created the file. Only a writable connection can recover from that.
    if (!/^SQLITE_(READONLY|CANTOPEN)/.test(getErrorCode(error) ?? '')) throw error
  } finally {
    db.close()
  }
}

function prepareFile(file: string, db: Connection): void {
  db.exec('PRAGMA synchronous = FULL')
  if (isEmpty(file, db)) {
    inTransaction(db, 'EXCLUSIVE', () => {
      // Another process may have created the tables in the meantime.
      if (isEmpty(file, db)) db.exec(SCHEMA)
    })
  }
  if (numberFrom(db, 'PRAGMA user_version') < SCHEMA_VERSION) inTransaction(db, 'IMMEDIATE', () => db.exec(LEASES))
  // Set after creating the tables, so the application id is in the file's own header and not only in the WAL.
  db.exec('PRAGMA journal_mode = WAL')
}

/** Whether a database is still empty. Throws if it belongs to another program. */
function isEmpty(file: string, db: Connection): boolean {
  // In one transaction: another process may create the tables between two readings.
  const read = (): readonly number[] =>
    ['PRAGMA application_id', 'PRAGMA user_version', 'SELECT count(*) FROM sqlite_schema'].map((sql) =>
      numberFrom(db, sql),
    )
  const [applicationId = 0, version = 0, tables] = db.inTransaction ? read() : inTransaction(db, 'DEFERRED', read)
  if (applicationId === 0 && version === 0 && tables === 0) return true
  if (applicationId !== APPLICATION_ID) throw corrupt(file, 'it is the database of another program')
  if (version > SCHEMA_VERSION) {
    throw new FoldoutError(
      'store-version',
      `The session store ${file} has version ${version}; this version of Foldout reads up to version ${SCHEMA_VERSION}. Update foldout. The file was not changed.`,
    )
  }
  return false
}

// Uses `all`, because `get` leaves the statement unfinished, which keeps a lock.
function numberFrom(db: Connection, sql: string): number {
  const [row] = db.prepare(sql).raw().all() as [[number]]
  return row[0]
}

export function inTransaction<T>(db: Connection, kind: 'DEFERRED' | 'IMMEDIATE' | 'EXCLUSIVE', job: () => T): T {
  db.exec(`BEGIN ${kind}`)
  try {
    const result = job()
    db.exec('COMMIT')
    return result
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Runs a job on the file, and adds a code and the file name to its errors. */
export function nameFile<T>(file: string, what: string, job: () => T): T {
  try {
    return job()
  } catch (error) {
    if (error instanceof FoldoutError) throw error
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(getErrorCode(error) ?? '')) throw corrupt(file, getErrorMessage(error), error)
    throw new FoldoutError('store-failed', `The session store ${file} could not ${what}: ${getErrorMessage(error)}.`, {
      cause: error,
    })
  }
}

export function corrupt(file: string, why: string, cause?: unknown): FoldoutError {
  return new FoldoutError(
    'store-corrupt',
    `${file} is damaged or is not a Foldout session store: ${why}. The file was not changed. Use another path, or restore the file from a backup.`,
    { cause },
  )
}

function getSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
