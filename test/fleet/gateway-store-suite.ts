import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AuditFilter, AuditStore } from '../../packages/foldout-mcp/src/gateway/policy/audit/audit-store.ts'
import type { SignInRecord } from '../../packages/foldout-mcp/src/gateway/auth/record.ts'
import type { ServerConfig } from '../../packages/foldout-mcp/src/gateway/config/config.ts'
import { readDefinition } from '../../packages/foldout-mcp/src/gateway/config/read-config.ts'
import type { UnapprovedCall } from '../../packages/foldout-mcp/src/gateway/policy/approvals/approval-store.ts'
import { MAX_APPROVALS_EACH } from '../../packages/foldout-mcp/src/gateway/policy/approvals/limits.ts'
import { hashText } from '../../packages/foldout-mcp/src/shared/hash.ts'
import { identifyServer } from '../../packages/foldout-mcp/src/gateway/upstreams/catalog-cache.ts'
import type { Snapshot, ToolDefinition } from '../../packages/foldout-mcp/src/gateway/model/snapshot.ts'
import type { GatewayStore } from '../../packages/foldout-mcp/src/gateway/store/contract/gateway-store.ts'
import { takeTurns } from '../../test/turns.ts'

/** Opens the same store each time, as another process would. */
export type OpenAgain = () => Promise<GatewayStore>

/** A server of a configuration. */
export function defineServer(name = 'notes'): ServerConfig {
  const { servers } = readDefinition({ mcpServers: { [name]: { command: 'notes' } } }, { file: 'test', folder: '/' })
  const [server] = servers
  if (!server) throw new Error('The definition has no server.')
  return server
}

export function createSnapshot(...tools: readonly ToolDefinition[]): Snapshot {
  const lists = { tools, resources: [], templates: [], prompts: [] }
  return { server: { name: 'notes' }, capabilities: {}, instructions: undefined, era: 'legacy', ...lists }
}

export function createTool(name: string, description = 'Reads a note.'): ToolDefinition {
  return { name, description }
}

/** A caller, as a store tells them apart. */
export const ASKER = 'a'.repeat(16)

export function createCall(name: string): UnapprovedCall {
  const binding = hashText(name)
  return { id: binding.slice(0, 16), binding, preset: '', tool: 'notes/delete', arguments: '{}', user: 'ada' }
}

export function createRecord(access: string, more: Partial<SignInRecord> = {}): SignInRecord {
  return {
    resource: 'https://tickets.example/mcp',
    issuer: 'https://login.example',
    discovery: { authorizationServerUrl: 'https://login.example' },
    client: { client_id: 'foldout' },
    tokens: { access_token: access, token_type: 'Bearer', refresh_token: `refresh-${access}` },
    issuedAt: 1,
    expiresAt: undefined,
    wanted: undefined,
    ...more,
  }
}

const MANY = 10
const ANYTHING = {
  name: 'odd \u0000 \uD800 "name"',
  description: '__proto__ \u202E',
  meta: { __proto: [null, 1.5, 'é'] },
}

/** The behavior of every store, whether or not several machines share it. */
export function gatewayStoreSuite(name: string, create: () => Promise<OpenAgain>): void {
  const openTwo = async (): Promise<readonly [GatewayStore, GatewayStore]> => {
    const open = await create()
    const stores = [await open(), await open()] as const
    onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))))
    return stores
  }

  describe(`R65 ${name}`, () => {
    it("R65 keeps a server's snapshot for every gateway that starts later", async () => {
      const [one, other] = await openTwo()
      const server = defineServer()
      expect(await other.catalogs.read(server)).toBeUndefined()
      const snapshot = createSnapshot(createTool('read'), ANYTHING)
      expect(await one.catalogs.write(server, snapshot)).toBe(true)
      const read = await other.catalogs.read(server)
      expect(read?.snapshot).toEqual(JSON.parse(JSON.stringify(snapshot)))
      expect(Date.now() - (read?.savedAt ?? 0)).toBeLessThan(60_000)
      expect(await other.catalogs.read(defineServer('mail'))).toBeUndefined()
    })

    it('R65 lets an approval be given once and used once', async () => {
      const [one, other] = await openTwo()
      const call = createCall('delete 1')
      expect(await one.approvals.use(call.id, call.binding)).toBe(false)
      expect(await one.approvals.ask(call, ASKER)).toBe('waiting')
      expect(await other.approvals.ask(call, ASKER)).toBe('waiting')
      expect(await other.approvals.list()).toMatchObject([call])
      expect(await one.approvals.use(call.id, call.binding)).toBe(false)
      const given = await Promise.allSettled(Array.from({ length: MANY }, () => other.approvals.approve(call.id)))
      expect(given.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await one.approvals.list()).toEqual([])
      expect(await one.approvals.use(call.id, 'another')).toBe(false)
      const used = await Promise.all(
        Array.from({ length: MANY }, (_, i) => (i % 2 ? one : other).approvals.use(call.id, call.binding)),
      )
      expect(used.filter(Boolean)).toHaveLength(1)
      // Repeating the call needs another approval.
      expect(await other.approvals.ask(call, ASKER)).toBe('waiting')
      expect(await one.approvals.use(call.id, call.binding)).toBe(false)
      await one.approvals.approve(call.id)
      expect(await other.approvals.use(call.id, call.binding)).toBe(true)
    })

    it('R65 lets each caller wait with a share of the calls, and no more', async () => {
      const [{ approvals }] = await openTwo()
      for (let i = 0; i < MAX_APPROVALS_EACH; i++) await approvals.ask(createCall(`shared ${i}`), 'c'.repeat(16))
      expect(await approvals.ask(createCall('one more'), 'c'.repeat(16))).toBe('too-many')
      expect(await approvals.ask(createCall('shared 0'), 'c'.repeat(16))).toBe('waiting')
      expect(await approvals.ask(createCall('one more'), 'd'.repeat(16))).toBe('waiting')
      for (let i = 0; i < MAX_APPROVALS_EACH; i++) await approvals.beginRound({ binding: 'b' }, 'c'.repeat(16))
      expect(await approvals.beginRound({ binding: 'b' }, 'c'.repeat(16))).toBeUndefined()
      expect(await approvals.beginRound({ binding: 'b' }, 'd'.repeat(16))).toBeTypeOf('string')
    })

    it('R65 refuses a call that the user has denied, without asking again', async () => {
      const [one, other] = await openTwo()
      const call = createCall('delete 2')
      await one.approvals.ask(call, ASKER)
      expect(await other.approvals.deny(call.id)).toMatchObject({ id: call.id })
      expect(await one.approvals.list()).toEqual([])
      await expect(one.approvals.approve(call.id)).rejects.toThrow(/No call with the id/)
      expect(await one.approvals.use(call.id, call.binding)).toBe(false)
      expect(await one.approvals.ask(call, ASKER)).toBe('denied')
    })

    it('R65 refuses invalid call ids', async () => {
      const [{ approvals }] = await openTwo()
      for (const id of ['../../etc/passwd', '', 'x'.repeat(10_000), '__proto__', "' OR true --", '0123456789abcdef'])
        await expect(approvals.approve(id)).rejects.toThrow(/No call with the id/)
    })

    it("R65 lets a client's round be taken once", async () => {
      const [{ approvals }] = await openTwo()
      const state = (await approvals.beginRound({ binding: 'b', inner: { state: 'odd \u0000 state' } }, ASKER)) ?? ''
      const taken = await Promise.all(Array.from({ length: MANY }, () => approvals.takeRound(state)))
      expect(taken.filter((round) => round !== undefined)).toEqual([
        { binding: 'b', inner: { state: 'odd \u0000 state' } },
      ])
      expect(await approvals.takeRound('foldout-approval-unknown')).toBeUndefined()
      const simple = (await approvals.beginRound({ binding: 'c' }, ASKER)) ?? ''
      expect(await approvals.takeRound(simple)).toMatchObject({ binding: 'c' })
    })

    it('R65 pins what is seen first, and notifies others when the user accepts a change', async () => {
      const [one, other] = await openTwo()
      const id = identifyServer(defineServer())
      expect(await one.pins.read(id)).toBeUndefined()
      const [mine, theirs] = await Promise.all([
        one.pins.create(id, 'notes', [createTool('read')]),
        other.pins.create(id, 'notes', [createTool('read', 'Another one.')]),
      ])
      expect(mine.set).toBe(theirs.set)
      await one.pins.note(id, 'notes', [createTool('read', 'Changed.'), ANYTHING])
      expect((await other.pins.listUnapproved()).map(({ tool }) => tool).sort()).toEqual([ANYTHING.name, 'read'].sort())
      const heard = new Promise<void>((resolve) => {
        const look = async (): Promise<void> => {
          if ((await one.pins.read(id))?.set === mine.set) return
          stop()
          resolve()
        }
        const stop = one.pins.watch(id, () => void look())
      })
      const [accepted] = await other.pins.approve({ server: 'notes', tool: 'read' })
      expect(accepted?.after).toMatchObject({ description: 'Changed.' })
      await heard
      expect((await one.pins.list()).map(({ server, tools }) => [server, tools.length])).toEqual([['notes', 1]])
      await expect(one.pins.approve({ server: 'mail' })).rejects.toThrow(/Nothing of the server 'mail'/)
      await one.pins.note(id, 'notes', [])
      expect(await other.pins.listUnapproved()).toEqual([])
    })

    it('R65 changes a sign-in under a lock', async () => {
      const [one, other] = await openTwo()
      const key = 'a'.repeat(40)
      expect(await one.signIns.read(key)).toBeUndefined()
      expect(await one.signIns.getStamp(key)).toBe('')
      let changes = 0
      let inside = 0
      await Promise.all(
        Array.from({ length: MANY }, (_, i) =>
          (i % 2 ? one : other).signIns.update(key, async (record) => {
            expect(++inside).toBe(1)
            await takeTurns()
            inside--
            if (record) return record
            changes++
            return createRecord('first')
          }),
        ),
      )
      expect(changes).toBe(1)
      expect(await other.signIns.read(key)).toEqual(createRecord('first'))
      const stamp = await one.signIns.getStamp(key)
      expect(stamp).not.toBe('')
      const failure = new Error('refused')
      await expect(one.signIns.update(key, () => Promise.reject(failure))).rejects.toBe(failure)
      expect(await other.signIns.getStamp(key)).toBe(stamp)
      await other.signIns.replace(key, createRecord('second', { tokens: undefined }))
      expect(await one.signIns.getStamp(key)).not.toBe(stamp)
      expect((await one.signIns.read(key))?.tokens).toBeUndefined()
      await one.signIns.replace(key, undefined)
      expect(await other.signIns.getStamp(key)).toBe('')
    })

    it('R65 gives out no more tokens than a bucket has', async () => {
      const [{ quotas }] = await openTwo()
      const bucket = { key: 'k', capacity: 25, refillMs: 3_600_000 }
      expect(await quotas.take(bucket, 5)).toMatchObject({ granted: 5 })
      const grants = await Promise.all(Array.from({ length: MANY }, () => quotas.take(bucket, 3)))
      expect(grants.reduce((sum, { granted }) => sum + granted, 0)).toBe(20)
      const { granted, waitMs } = await quotas.take(bucket, 1)
      expect(granted).toBe(0)
      expect(waitMs).toBeGreaterThan(60_000)
      expect(waitMs).toBeLessThanOrEqual(3_600_000 / 25)
      await quotas.giveBack(bucket, 2)
      expect(await quotas.take(bucket, 5)).toMatchObject({ granted: 2 })
      expect(await quotas.take({ ...bucket, key: 'other' }, 1)).toMatchObject({ granted: 1 })
      const quick = { key: 'quick', capacity: 1, refillMs: 50 }
      expect(await quotas.take(quick, 1)).toMatchObject({ granted: 1 })
      await expect.poll(async () => (await quotas.take(quick, 1)).granted).toBe(1)
    })
  })
}

/** The behavior of every audit log: writing and searching. */
export function auditSuite(name: string, create: () => Promise<Pick<AuditStore, 'append' | 'search'>>): void {
  const HOUR = 3_600_000
  const start = Date.parse('2026-11-17T00:00:00.000Z')
  const format = (hour: number, more: object = {}): string => {
    const at = new Date(start + hour * HOUR).toISOString()
    const call = { preset: '', tool: 'notes/read', outcome: 'ok', durationMs: 1, bytes: 2, arguments: { hour } }
    return JSON.stringify({ at, client: { id: '1', name: 'Zed', user: 'ada' }, ...call, ...more })
  }

  describe(`R65 ${name}`, () => {
    it('is searched by time, tool, user, client and outcome, newest first', async () => {
      const log = await create()
      await log.append(randomUUID(), [format(0), format(1, { tool: 'mail/send_100%', outcome: 'denied' })])
      await log.append(randomUUID(), [
        format(2, { client: { id: '2', name: 'odd \u0000 %_*', user: 'bob' } }),
        JSON.stringify({ at: new Date(start + 3 * HOUR).toISOString(), lost: 7 }),
      ])
      const find = async (filter: Partial<AuditFilter>) =>
        (await log.search({ limit: 10, ...filter })).entries.map(({ at }) => (Date.parse(at) - start) / HOUR)
      expect(await find({})).toEqual([3, 2, 1, 0])
      expect(await find({ since: new Date(start + HOUR), until: new Date(start + 3 * HOUR) })).toEqual([2, 1])
      expect(await find({ tool: 'notes/*' })).toEqual([2, 0])
      expect(await find({ tool: '*100%' })).toEqual([1])
      expect(await find({ tool: 'mail/send_10__' })).toEqual([])
      expect(await find({ user: 'bob' })).toEqual([2])
      expect(await find({ client: 'zED' })).toEqual([1, 0])
      expect(await find({ outcome: 'denied' })).toEqual([1])
      expect(await find({ user: "' OR true --" })).toEqual([])
      expect((await log.search({ limit: 1, since: new Date(start + 3 * HOUR) })).entries).toMatchObject([{ lost: 7 }])
    })

    it('is read page by page, while it grows', async () => {
      const log = await create()
      await log.append(
        randomUUID(),
        Array.from({ length: 25 }, (_, i) => format(Math.floor(i / 10), { bytes: i })),
      )
      const seen: (number | undefined)[] = []
      let after: string | undefined
      do {
        const page = await log.search({ limit: 4, after })
        seen.push(...page.entries.map(({ bytes }) => bytes))
        after = page.next
        await log.append(randomUUID(), [format(100)])
      } while (after !== undefined)
      expect(seen).toEqual(Array.from({ length: 25 }, (_, i) => 24 - i))
      await expect(log.search({ limit: 4, after: '1; DROP TABLE' })).rejects.toThrow(/is not the end of a page/)
    })
  })
}
