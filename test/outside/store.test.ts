import { mkdtempSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkEvents, checkSessionId, checkSnapshot, isSameLease, selectPage } from 'foldout/session'
import type { SessionLease, SessionStore, StoredRange, StoredSession } from 'foldout/session'
import { sessionStoreSuite } from 'foldout/testing/suites'
import { afterAll } from 'vitest'
import { removeFolder } from '../remove-folder.ts'

/** A store as a third party would write it, with public exports only: one JSON file per session. */
function createJsonStore(folder: string): SessionStore {
  const leases = new Map<string, SessionLease>()
  const getFile = (id: string): string => join(folder, `${Buffer.from(id).toString('hex')}.json`)

  async function load(id: string): Promise<StoredSession | undefined> {
    const text = await readFile(getFile(id), 'utf8').catch(() => undefined)
    return text === undefined ? undefined : (JSON.parse(text) as StoredSession)
  }
  async function write(id: string, session: StoredSession): Promise<void> {
    await mkdir(folder, { recursive: true })
    await writeFile(`${getFile(id)}.new`, JSON.stringify(session))
    await rename(`${getFile(id)}.new`, getFile(id))
  }
  const begin = async (id: string): Promise<StoredSession> => (await load(id)) ?? { sequence: 0, events: [] }
  const getRange = ({ sequence, events }: StoredSession): StoredRange => ({
    snapshot: sequence,
    last: events.at(-1)?.sequence ?? sequence,
  })

  return {
    load,
    async append(id, events) {
      checkSessionId(id)
      const kept = await begin(id)
      checkEvents(id, getRange(kept), events)
      if (events.length > 0) await write(id, { ...kept, events: [...kept.events, ...events] })
    },
    async save(id, snapshot, sequence) {
      checkSessionId(id)
      const kept = await begin(id)
      checkSnapshot(id, getRange(kept), { snapshot, sequence })
      await write(id, { snapshot, sequence, events: kept.events.filter((event) => event.sequence > sequence) })
    },
    async list(page) {
      const names = await readdir(folder).catch(() => [])
      return selectPage(
        names.map((name) => Buffer.from(name.slice(0, -'.json'.length), 'hex').toString()),
        page,
      )
    },
    async delete(id) {
      leases.delete(id)
      await rm(getFile(id), { force: true })
    },
    // For one process. For several, this would be one atomic step on a file.
    async swapLease(id, from, to) {
      checkSessionId(id)
      if (isSameLease(leases.get(id), from)) {
        if (to) leases.set(id, to)
        else leases.delete(id)
      }
      return leases.get(id)
    },
    async close() {},
  }
}

const folder = mkdtempSync(join(tmpdir(), 'foldout-outside-'))
afterAll(() => removeFolder(folder))
let count = 0

sessionStoreSuite('a store written outside', async () => createJsonStore(join(folder, String(count++))))
