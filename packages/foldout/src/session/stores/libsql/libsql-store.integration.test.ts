import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import Database from 'libsql'
import { afterAll, describe, expect, it } from 'vitest'
import { notJson } from '../../../core/json/json.ts'
import { type SessionStore } from '../store.ts'
import { openSession } from '../open-session.ts'
import { sessionStoreSuite } from '../../../testing/store-suite.ts'
import { createLibsqlStore } from './libsql-store.ts'
import { countUp, counter } from './writer.fixtures.ts'
import { removeFolder } from '../../../../../../test/remove-folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'foldout-libsql-'))
afterAll(() => removeFolder(folder))
let files = 0
const newFile = (): string => join(folder, `${++files}.db`)

sessionStoreSuite('libsqlStore', () => createLibsqlStore({ path: newFile() }))
sessionStoreSuite('createLibsqlStore, reopened for each call,', async () => reopeningStore(newFile()))

/** Reopens the file for every call, so nothing else carries over between calls. */
function reopeningStore(path: string): SessionStore {
  async function once<T>(job: (store: SessionStore) => Promise<T>): Promise<T> {
    const store = await createLibsqlStore({ path })
    try {
      return await job(store)
    } finally {
      await store.close()
    }
  }
  return {
    load: (id) => once((store) => store.load(id)),
    append: (id, events) => once((store) => store.append(id, events)),
    save: (id, snapshot, sequence) => once((store) => store.save(id, snapshot, sequence)),
    list: (page) => once((store) => store.list(page)),
    listEnds: (page) => once(async (store) => (await store.listEnds?.(page)) ?? []),
    swapLease: (...given) => once((store) => store.swapLease(...given)),
    delete: (id) => once((store) => store.delete(id)),
    close: async () => undefined,
  }
}

/** The bytes of a file with one session of 60 events, most of them several pages long. */
async function healthyFile(): Promise<Buffer> {
  const path = newFile()
  const store = await createLibsqlStore({ path })
  await store.append(
    'one',
    Array.from({ length: 60 }, (_, i) => ({
      sequence: i + 1,
      event: { type: 'test/happened', payload: 'y'.repeat(500) },
      scope: 'all' as const,
    })),
  )
  await store.close()
  return readFileSync(path)
}

describe('createLibsqlStore and its file', () => {
  it('R25 carries any JSON without loss', async () => {
    const store = await createLibsqlStore({ path: newFile() })
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.jsonValue(), async (type, payload) => {
        fc.pre(notJson(payload) === undefined)
        const id = `run-${++run}`
        await store.append(id, [{ sequence: 1, event: { type, payload }, scope: 'all' }])
        expect(JSON.stringify((await store.load(id))?.events[0]?.event)).toBe(JSON.stringify({ type, payload }))
      }),
    )
    await store.close()
  })

  it('R25 creates the file, and its folder only on request', async () => {
    const missing = join(folder, 'not', 'there')
    const path = join(missing, 'sessions.db')
    await expect(createLibsqlStore({ path })).rejects.toMatchObject({
      code: 'store-failed',
      message: `The session store ${path} could not be opened: the folder ${missing} does not exist. Create it, or pass createFolder: true.`,
    })
    expect(existsSync(join(folder, 'not'))).toBe(false)
    await (await createLibsqlStore({ path, createFolder: true })).close()
    expect(existsSync(path)).toBe(true)
    await expect(createLibsqlStore({ path: join(path, 'below.db') })).rejects.toMatchObject({
      message: expect.stringContaining(`${path} is not a folder. Create it, or pass createFolder: true.`) as string,
    })
  })

  it('R25 has everything in one file once it is closed', async () => {
    const path = newFile()
    await countUp(path, 'one', 5)
    const copied = newFile()
    copyFileSync(path, copied)
    const store = await createLibsqlStore({ path: copied })
    expect((await openSession({ store, id: 'one', slices: [counter] })).get(counter)).toBe(5)
    await store.close()
  })

  it('R25 reports that it is closed, and can be closed twice', async () => {
    const path = newFile()
    const store = await createLibsqlStore({ path })
    await store.close()
    await store.close()
    const closed = {
      code: 'store-closed',
      message: `The session store ${path} is closed. Open it again with createLibsqlStore().`,
    }
    await expect(store.load('one')).rejects.toMatchObject(closed)
    await expect(store.delete('one')).rejects.toMatchObject(closed)
  })

  it('R25 names the file that cannot be opened', async () => {
    await expect(createLibsqlStore({ path: folder })).rejects.toMatchObject({
      code: expect.stringMatching(/^store-/) as string,
      message: expect.stringContaining(folder) as string,
    })
  })

  it('R25 has written everything it acknowledges', async () => {
    const path = newFile()
    const store = await createLibsqlStore({ path })
    await store.append('one', [{ sequence: 1, event: { type: 'a', payload: 1 }, scope: 'all' }])
    const other = new Database(path)
    expect(other.prepare('SELECT session, sequence FROM events').raw().all()).toEqual([['one', 1]])
    expect(other.pragma('journal_mode')).toEqual([{ journal_mode: 'wal' }])
    other.close()
    await store.close()
  })
})

describe('createLibsqlStore and a file of another program', () => {
  const damages: Record<string, (healthy: Buffer) => Buffer> = {
    'a text': () => Buffer.from('Dear diary, '.repeat(1000)),
    'a short text': () => Buffer.from('{}'),
    zeros: () => Buffer.alloc(8192),
    'a store cut in half': (healthy) => healthy.subarray(0, healthy.length / 2),
    'the first page of a store': (healthy) => healthy.subarray(0, 4096),
    'a store without its beginning': (healthy) => healthy.subarray(4096),
    'a store with a wiped header': (healthy) => healthy.fill(0, 0, 16),
    'a store with a wiped schema': (healthy) => healthy.fill(0x55, 100, 4096),
    'a store with wiped pages': (healthy) => healthy.fill(0x55, 4096),
    'a store with a broken text': (healthy) =>
      healthy.fill('"', healthy.lastIndexOf('yyyy'), healthy.lastIndexOf('yyyy') + 3),
    'the database of another program': (healthy) => {
      healthy.writeUInt32BE(1, 68)
      return healthy
    },
  }
  it.each(Object.keys(damages))('R25 rejects %s, names it, and leaves every byte unchanged', async (damage) => {
    const path = newFile()
    const bytes = damages[damage]!(await healthyFile())
    writeFileSync(path, bytes)
    const use = async (): Promise<void> => {
      const store = await createLibsqlStore({ path })
      try {
        await openSession({ store, id: 'one' })
      } finally {
        await store.close()
      }
    }
    await expect(use()).rejects.toMatchObject({
      code: 'store-corrupt',
      message: expect.stringContaining(`${path} is damaged or is not a Foldout session store: `) as string,
    })
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })

  it.each(['delete', 'wal'])('R25 leaves a foreign database in journal mode %s unchanged', async (mode) => {
    const path = newFile()
    const other = new Database(path)
    other.exec(`PRAGMA journal_mode = ${mode}; CREATE TABLE precious (a); INSERT INTO precious VALUES (1)`)
    const bytes = readFileSync(path)
    await expect(createLibsqlStore({ path })).rejects.toMatchObject({
      code: 'store-corrupt',
      message: `${path} is damaged or is not a Foldout session store: it is the database of another program. The file was not changed. Use another path, or restore the file from a backup.`,
    })
    expect(readFileSync(path).equals(bytes)).toBe(true)
    expect(other.prepare('SELECT a FROM precious').raw().all()).toEqual([[1]])
    other.close()
  })

  it('R39 adds leases to a file of the first version, and keeps its sessions', async () => {
    const path = newFile()
    writeFileSync(path, await healthyFile())
    const db = new Database(path)
    db.exec('DROP TABLE leases; PRAGMA user_version = 1')
    db.close()
    const stores = await Promise.all([createLibsqlStore({ path }), createLibsqlStore({ path })])
    const held = await Promise.all(
      stores.map((store, n) => store.swapLease('one', undefined, { owner: String(n), beat: 1, ms: 1 })),
    )
    expect(new Set(held.map((lease) => lease?.owner)).size).toBe(1)
    expect((await stores[0]?.load('one'))?.events).toHaveLength(60)
    await Promise.all(stores.map((store) => store.close()))
  })

  it('R25 rejects a store of a later version and leaves its bytes unchanged', async () => {
    const path = newFile()
    const bytes = await healthyFile()
    bytes.writeUInt32BE(99, 60)
    writeFileSync(path, bytes)
    await expect(createLibsqlStore({ path })).rejects.toMatchObject({
      code: 'store-version',
      message: `The session store ${path} has version 99; this version of Foldout reads up to version 2. Update foldout. The file was not changed.`,
    })
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })

  it('R25 rejects an emptied file whose WAL still exists', async () => {
    const path = newFile()
    writeFileSync(path, '')
    writeFileSync(`${path}-wal`, 'what was written last')
    await expect(createLibsqlStore({ path })).rejects.toMatchObject({ code: 'store-corrupt' })
    expect(readFileSync(`${path}-wal`, 'utf8')).toBe('what was written last')
  })

  it('R25 notices that an event is missing', async () => {
    const path = newFile()
    writeFileSync(path, await healthyFile())
    const vandal = new Database(path)
    vandal.exec('DELETE FROM events WHERE sequence = 30')
    const store = await createLibsqlStore({ path })
    await expect(store.load('one')).rejects.toMatchObject({
      code: 'store-corrupt',
      message: expect.stringContaining("session 'one' is missing event 30") as string,
    })
    await store.close()
    vandal.close()
  })

  it('R25 fills an empty file, which has nothing to lose', async () => {
    const path = newFile()
    mkdirSync(folder, { recursive: true })
    writeFileSync(path, '')
    await countUp(path, 'one', 1)
    expect(readFileSync(path).length).toBeGreaterThan(0)
  })
})

describe('createLibsqlStore in several processes', () => {
  const run = promisify(execFile)
  const fixture = join(import.meta.dirname, 'writer.fixtures.ts')
  const child = (path: string, id: string, upTo: number): Promise<unknown> =>
    run(process.execPath, ['--import', 'tsx', fixture, path, id, String(upTo)])

  it('R25 recovers when a process was killed while it created the file', async () => {
    const path = newFile()
    // Little memory makes SQLite write pages before the transaction ends; its journal stays behind.
    const script = `
      const database = new (require('libsql'))(process.argv[1])
      database.exec('PRAGMA cache_size = 1; BEGIN EXCLUSIVE; CREATE TABLE sessions (id TEXT)')
      for (let i = 0; i < 200; i++) database.exec("INSERT INTO sessions VALUES ('" + 'x'.repeat(1000) + "')")
      process.kill(process.pid, 'SIGKILL')`
    await expect(run(process.execPath, ['-e', script, path])).rejects.toMatchObject({ signal: 'SIGKILL' })
    expect(readFileSync(path).length).toBeGreaterThan(4096)
    expect(existsSync(`${path}-journal`)).toBe(true)
    await countUp(path, 'one', 3)
    const store = await createLibsqlStore({ path })
    expect((await openSession({ store, id: 'one', slices: [counter] })).get(counter)).toBe(3)
    await store.close()
  })

  it('R25 is created once and keeps the events of all processes', async () => {
    const path = newFile()
    await Promise.all([child(path, 'a', 100), child(path, 'b', 100), child(path, 'c', 100)])
    await Promise.all([child(path, 'a', 150), countUp(path, 'd', 150), countUp(path, 'e', 150)])
    const store = await createLibsqlStore({ path })
    const counts = await Promise.all(
      (await store.list()).map(async (id) => [id, (await openSession({ store, id, slices: [counter] })).get(counter)]),
    )
    expect(counts).toEqual([
      ['a', 150],
      ['b', 100],
      ['c', 100],
      ['d', 150],
      ['e', 150],
    ])
    await store.close()
  })

  it('R25 rejects the second writer of a session', async () => {
    const path = newFile()
    const store = await createLibsqlStore({ path })
    const session = await openSession({ store, id: 'one', slices: [counter] })
    await child(path, 'one', 3)
    session.dispatch(counter.events.counted(1))
    await expect(session.saved()).rejects.toMatchObject({ code: 'store-conflict' })
    expect((await openSession({ store, id: 'one', slices: [counter] })).get(counter)).toBe(3)
    await store.close()
  })
})
