import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuthFetch, describeAuthFailure } from './auth-fetch.ts'
import { createKeychain, type Keychain } from './keychain.ts'
import { getRenewalTime, identifySignIn, type SignInRecord } from './record.ts'
import { createSignInStore, type SignInStore } from './store.ts'
import { removeFolder } from '../../remove-folder.fixtures.ts'
import { takeTurns } from '../../../../../test/turns.ts'

let folder: string
let problems: string[]
let entries: Map<string, string>
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-store-'))
  problems = []
  entries = new Map()
})
afterEach(() => removeFolder(folder))

const KEY = 'a'.repeat(40)

function createRecord(token = 'the-access-token'): SignInRecord {
  return {
    resource: 'https://tickets.example/mcp',
    issuer: 'https://login.example',
    discovery: { authorizationServerUrl: 'https://login.example' },
    client: { client_id: 'foldout', client_secret: 'the-client-secret' },
    tokens: { access_token: token, token_type: 'Bearer', refresh_token: 'the-refresh-token' },
    issuedAt: 1,
    expiresAt: 2,
    wanted: undefined,
  }
}

function createStore(keychain?: Keychain, home = folder): SignInStore {
  return createSignInStore({
    env: { XDG_DATA_HOME: home },
    onProblem: (message) => problems.push(message),
    openKeychain: async () => keychain,
  })
}

/** An in-memory keychain whose entries hold only a few characters. */
function createFakeKeychain(longest = Infinity): Keychain {
  return createKeychain(
    (account) => ({
      getPassword: async () => entries.get(account) ?? null,
      setPassword: async (secret: string) => void entries.set(account, secret),
      deletePassword: async () => entries.delete(account),
    }),
    longest,
  )
}

const getFile = (): string => join(folder, 'foldout/sign-ins', `${KEY}.json`)

describe('stored sign-ins (R55)', () => {
  it('are in a private file, replaced atomically, and gone when they are removed', async () => {
    const store = createStore()
    expect(await store.read(KEY)).toBeUndefined()
    expect(await store.getStamp(KEY)).toBe('')
    await store.update(KEY, async () => createRecord())
    expect(await createStore().read(KEY)).toEqual(createRecord())
    expect(statSync(getFile()).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'foldout/sign-ins')).mode & 0o777).toBe(0o700)
    const stamp = await store.getStamp(KEY)
    await store.update(KEY, async (record) => record)
    expect(await store.getStamp(KEY)).toBe(stamp)
    await store.update(KEY, async () => createRecord('another'))
    expect(await store.getStamp(KEY)).not.toBe(stamp)
    await store.update(KEY, async () => undefined)
    expect(readdirSync(join(folder, 'foldout/sign-ins'))).toEqual([])
  })

  it('are made private again if the permissions were changed', async () => {
    await createStore().update(KEY, async () => createRecord())
    chmodSync(getFile(), 0o644)
    expect(await createStore().read(KEY)).toEqual(createRecord())
    expect(statSync(getFile()).mode & 0o777).toBe(0o600)
  })

  it('change one at a time', async () => {
    const stores = [createStore(), createStore()] as const
    await createStore().update(KEY, async () => createRecord('0'))
    const changes = Array.from({ length: 20 }, (_, i) =>
      stores[i % 2 === 0 ? 0 : 1].update(KEY, async (record) => {
        const count = Number(record?.tokens?.access_token)
        await takeTurns(2)
        return createRecord(String(count + 1))
      }),
    )
    await Promise.all(changes)
    expect((await createStore().read(KEY))?.tokens?.access_token).toBe('20')
  })

  it.each([
    ['{', 'text'],
    ['{"format":1}', 'fields'],
    [`{"format":1,"secrets":${'['.repeat(100_000)}`, 'depth'],
    ['x'.repeat(2_000_000), 'size'],
    ['{"__proto__":{"format":1,"resource":"x"}}', 'prototype'],
  ])('are ignored if the file is damaged: %#', async (text) => {
    await createStore().update(KEY, async () => createRecord())
    writeFileSync(getFile(), text)
    expect(await createStore().read(KEY)).toBeUndefined()
    expect(problems).toEqual([`The sign-in in ${getFile()} cannot be read and is ignored. Sign in again.`])
    await createStore().update(KEY, async () => createRecord())
    expect(await createStore().read(KEY)).toEqual(createRecord())
  })

  it('last for the process if they cannot be written, with one warning', async () => {
    const file = join(folder, 'not-a-folder')
    writeFileSync(file, '')
    const store = createStore(undefined, file)
    let asked = 0
    const record = await store.update(KEY, async () => {
      asked++
      return createRecord()
    })
    expect({ record, asked }).toEqual({ record: createRecord(), asked: 1 })
    expect(await store.read(KEY)).toEqual(createRecord())
    expect(problems).toEqual([
      expect.stringContaining('The sign-in cannot be saved, and lasts only until this process ends'),
    ])
  })

  it('are not changed if the change fails', async () => {
    const store = createStore()
    await store.update(KEY, async () => createRecord())
    const failing = store.update(KEY, () => Promise.reject(new Error('refused')))
    await expect(failing).rejects.toThrow('refused')
    expect(await store.read(KEY)).toEqual(createRecord())
    expect(problems).toEqual([])
    expect(existsSync(`${getFile()}.lock`)).toBe(false)
  })
})

describe('a keychain (R55)', () => {
  it.each([Infinity, 10])('holds the secrets, and the file does not: %s characters', async (longest) => {
    const store = createStore(createFakeKeychain(longest))
    await store.update(KEY, async () => createRecord())
    expect(await store.getPlace()).toBe('keychain')
    const text = readFileSync(getFile(), 'utf8')
    for (const secret of ['the-access-token', 'the-refresh-token', 'the-client-secret'])
      expect(text).not.toContain(secret)
    for (const part of entries.values()) expect(part.length).toBeLessThanOrEqual(longest)
    expect(await createStore(createFakeKeychain(longest)).read(KEY)).toEqual(createRecord())
    const before = new Set(entries.keys())
    await store.update(KEY, async () => createRecord('another'))
    expect([...entries.keys()].filter((name) => before.has(name))).toEqual([])
    await store.update(KEY, async () => undefined)
    expect(entries.size).toBe(0)
  })

  it('that is gone or empty requires a new sign-in', async () => {
    await createStore(createFakeKeychain()).update(KEY, async () => createRecord())
    await expect(createStore().read(KEY)).rejects.toThrow('The keychain that holds the sign-in is not available.')
    // Signing in replaces what cannot be read, and signing out removes it.
    await createStore().replace(KEY, createRecord('another'))
    expect(await createStore().read(KEY)).toEqual(createRecord('another'))
    await createStore(createFakeKeychain()).replace(KEY, createRecord())
    await createStore().replace(KEY, undefined)
    expect(existsSync(getFile())).toBe(false)
    await createStore(createFakeKeychain()).update(KEY, async () => createRecord())
    entries.clear()
    expect(await createStore(createFakeKeychain()).read(KEY)).toBeUndefined()
  })

  it('that cannot be read keeps its entries when a token is due for renewal', async () => {
    await createStore(createFakeKeychain()).update(KEY, async () => createRecord())
    await expect(createStore().update(KEY, async () => undefined)).rejects.toThrow('is not available')
    expect(await createStore(createFakeKeychain()).read(KEY)).toEqual(createRecord())
  })

  it('keeps no entries without a file', async () => {
    mkdirSync(getFile(), { recursive: true })
    const store = createStore(createFakeKeychain())
    await store.update(KEY, async () => createRecord())
    expect(await store.read(KEY)).toEqual(createRecord())
    expect(entries.size).toBe(0)
  })

  it('that refuses to write leaves the token in the process, not in a file', async () => {
    const keychain = { ...createFakeKeychain(), write: () => Promise.reject(new Error('It is locked.')) }
    const store = createStore(keychain)
    await store.update(KEY, async () => createRecord())
    expect(await store.read(KEY)).toEqual(createRecord())
    expect(existsSync(getFile())).toBe(false)
    expect(problems).toEqual([expect.stringContaining('It is locked.')])
  })
})

describe('the identity of a sign-in (R55)', () => {
  const server = {
    kind: 'http',
    name: 'a',
    url: new URL('https://a.example/mcp'),
    headers: {},
    auth: undefined,
  } as const

  it('is the URL, the client and the account, not the name', () => {
    const key = identifySignIn(server)
    expect(identifySignIn({ ...server, name: 'b' })).toBe(key)
    const urls = [
      'https://b.example/mcp',
      'https://a.example/other',
      'https://a.example/mcp?x=1',
      'http://a.example/mcp',
    ]
    for (const url of urls) expect(identifySignIn({ ...server, url: new URL(url) })).not.toBe(key)
  })

  it('is renewed a fifth of its lifetime early, and five minutes at most', () => {
    const record = createRecord()
    expect(getRenewalTime({ ...record, issuedAt: 0, expiresAt: 10_000 })).toBe(8_000)
    expect(getRenewalTime({ ...record, issuedAt: 0, expiresAt: 86_400_000 })).toBe(86_100_000)
    expect(getRenewalTime({ ...record, expiresAt: undefined })).toBe(Infinity)
  })
})

describe('requests of a sign-in (R55)', () => {
  async function serve(body: string, status = 200): Promise<{ readonly url: URL; close(): void }> {
    const server = createServer((_, response) => response.writeHead(status).end(body))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    return { url, close: () => void server.close() }
  }
  const local = (url: URL) => ({ kind: 'http', name: 'a', url, headers: { 'x-key': 'own' }, auth: undefined }) as const

  it('do not accept endless responses', async () => {
    const { url, close } = await serve('x'.repeat(2_000_000))
    await expect(createAuthFetch(local(url))(url)).rejects.toThrow('A response during the sign-in is too long.')
    close()
  })

  it('do not repeat their contents when they fail', async () => {
    const sent = { refresh_token: 'short-token', client_secret: 'short-secret', code: 'a-code' }
    const { url, close } = await serve(`You sent ${Object.values(sent).join(' and ')} as bWU6cHc= or pw-word`, 400)
    const headers = { authorization: `Basic ${Buffer.from('me:pw-word').toString('base64')}` }
    const response = await createAuthFetch(local(url))(url, {
      method: 'POST',
      body: new URLSearchParams(sent),
      headers,
    })
    const text = await response.text()
    for (const secret of [...Object.values(sent), 'pw-word']) expect(text).not.toContain(secret)
    close()
  })

  it('avoid other machines without TLS, and this machine for a server elsewhere', async () => {
    const server = local(new URL('https://tickets.example/mcp'))
    for (const target of ['http://login.example/', 'http://127.0.0.1:1/', 'http://localhost/', 'ftp://x/'])
      await expect(createAuthFetch(server)(target)).rejects.toThrow('which is not safe to use')
  })

  it('fail with short messages that hide anything like a secret', () => {
    const token = 'eyJhbGciOiJIUzI1NiJ9abcdefghijkl'
    expect(describeAuthFailure(new Error(`no: ${token}`, { cause: new Error(`deep ${token}`) }))).toBe('deep ***.')
    expect(describeAuthFailure(new Error('x '.repeat(10_000))).length).toBeLessThan(310)
  })
})
