import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { recordTraffic } from '../../traffic/record.ts'
import { createRedactor } from './redact.ts'
import { createSite, getText, type Site } from '../gateway.fixtures.ts'
import { readDefinition } from '../../config/read-config.ts'
import { findConfigSecrets } from './find-secrets.ts'
import { createSecrets } from './secrets.ts'

const LEAKY = join(import.meta.dirname, '../leaky-server.fixtures.mjs')

/** Texts that could be secrets, except the mark that replaces one and texts made of it, which cannot be hidden. */
const secret = fc
  .string({ unit: 'grapheme', minLength: 8, maxLength: 60 })
  .filter((text) => !text.includes('*') && text.length >= 8 && text.trim() === text)

/** Every form in which a secret must not appear. */
function listForms(text: string): readonly string[] {
  const bytes = Buffer.from(text)
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ]
}

describe('R56 secrets', () => {
  it('are found in a text in every form and position, even if they overlap', () => {
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 5 }),
        fc.array(fc.string(), { maxLength: 6 }),
        (secrets, texts) => {
          const { hide } = createSecrets(secrets)
          const forms = secrets.flatMap(listForms)
          const text = forms.map((form, i) => `${texts[i % Math.max(texts.length, 1)] ?? ''}${form}`).join('')
          const hidden = hide(text)
          for (const form of forms) expect(hidden).not.toContain(form)
        },
      ),
    )
  })

  it('are found in base64 of a longer text', () => {
    fc.assert(
      fc.property(secret, fc.string({ maxLength: 5 }), fc.string({ maxLength: 5 }), (one, before, after) => {
        const { hide } = createSecrets([one])
        const encoded = Buffer.from(`${before}${one}${after}`).toString('base64')
        const decoded = hide(encoded)
          .split('***')
          .map((part) => Buffer.from(part, 'base64').toString())
        expect(hide(encoded)).toContain('***')
        for (const part of decoded) expect(part).not.toContain(one)
      }),
    )
  })

  it('leave everything else unchanged, even if it is very large and very deep', () => {
    const { hide, hideIn } = createSecrets(['a-secret-value', 'short'])
    const text = 'short words, '.repeat(300_000)
    expect(hide(text)).toBe(text)
    const value = { text, list: [1, null, true] }
    expect(hideIn(value)).toBe(value)
    let deep: unknown = 'a-secret-value'
    for (let i = 0; i < 100_000; i++) deep = [deep]
    let found: unknown = hideIn({ deep })
    for (let i = 0; i < 300; i++)
      found = Array.isArray(found) ? found[0] : ((found as { deep?: unknown }).deep ?? found)
    expect(found).toBe('***')
    const named = JSON.parse('{"__proto__": "a-secret-value", "a-secret-value": 1}') as object
    expect(JSON.stringify(hideIn(named))).toBe('{"__proto__":"***","***":1}')
    expect(hide('a-secret-value'.repeat(300_000))).toBe('***')
  })
})

describe('R56 secrets that become known later', () => {
  it('displace the oldest of their own kind, and none of the configuration', () => {
    const { add, hide } = createSecrets(['the-configured-one'])
    add(['the-token-of-a-sign-in'], 'sign-in')
    add(['the-first-header', 'the-configured-one'], 'client')
    for (let i = 0; i < 100; i++)
      add(
        Array.from({ length: 101 }, (_, j) => `header-${i}-${j}`),
        'client',
      )
    expect(hide('the-configured-one the-token-of-a-sign-in the-first-header header-0-0 header-99-100')).toBe(
      '*** *** the-first-header header-0-0 ***',
    )
  })

  it('are found in one pass, however many there are', () => {
    const { add, hide } = createSecrets()
    const many = Array.from({ length: 5_000 }, (_, i) => `Bearer of-user-${i * 7_919}`)
    const text = 'A text without secrets. '.repeat(100)
    const measure = (): number => {
      const times = Array.from({ length: 20 }, () => {
        const start = performance.now()
        for (let i = 0; i < 20; i++) hide(text)
        return performance.now() - start
      })
      return Math.min(...times)
    }
    add(many.slice(0, 5), 'client')
    const few = measure()
    add(many, 'client')
    expect(measure()).toBeLessThan(50 * few)
    expect(hide(`x ${many[4_321]} y`)).toBe('x *** y')
  })
})

describe('R56 a refusal of a server', () => {
  it('keeps its code when secrets are removed from it, also where JSON does not reach', () => {
    const mark = Symbol('mark')
    const { hideIn } = createSecrets(['a-secret-value'])
    const result = { content: [{ type: 'text', text: 'no' }], [mark]: { code: -1, data: { a: 'a-secret-value' } } }
    expect(hideIn(result)).toEqual({ ...result, [mark]: { code: -1, data: { a: '***' } } })
    const clean = { content: [], [mark]: { code: -1 } }
    expect(hideIn(clean)).toBe(clean)
  })
})

describe('R56 secrets of a configuration', () => {
  let site: Site
  beforeEach(() => {
    site = createSite()
  })
  afterEach(() => site.close())

  const printable = fc.string({
    unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFXYZ0123456789+/=_-.:@%&"\\'.split('')),
    minLength: 12,
    maxLength: 40,
  })

  /** Everything below a folder. */
  function readAll(folder: string): string {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((file) => statSync(file).isFile())
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n')
  }

  it("are not a shell's folders or paths of existing files, whatever the variables are called", () => {
    const { folder } = site
    const env = {
      PWD: folder,
      OLDPWD: '/a/folder/that/is/gone',
      SSH_AUTH_SOCK: folder,
      DB_PWD: 'a-real-password',
      API_KEY: '/not/a/file/but/a/key',
    }
    const definition = { mcpServers: { a: { command: 'a', env: { KEY_FILE: folder, KEY: 'a-key-of-a-server' } } } }
    const config = readDefinition(definition, { file: 'test', folder })
    const secrets = findConfigSecrets(config, { env, root: folder })
    expect([...secrets].toSorted()).toEqual(['/not/a/file/but/a/key', 'a-key-of-a-server', 'a-real-password'])
  })

  it('are the variables that it refers to, wherever that is', () => {
    const { folder } = site
    const env = {
      MODE: 'mode-of-the-server',
      WORD: 'production',
      ADDRESS: 'https://tickets.example.com',
      PLACE: folder,
      USER: 'ada-lovelace',
      TENANT: 'tenant-in-a-path',
      SHORT: 'abc',
      OTHER: 'not-in-the-configuration',
    }
    const definition = {
      mcpServers: {
        a: {
          command: 'a',
          args: ['--mode=${MODE}', '${WORD}', '${PLACE}', '${SHORT}', '${USER}', '${NONE:-the-default}'],
        },
        b: { url: '${ADDRESS}/${TENANT}/mcp' },
      },
    }
    const config = readDefinition(definition, { file: 'test', folder })
    const secrets = findConfigSecrets(config, { env, root: folder })
    expect([...secrets].filter(({ length }) => length >= 8)).toEqual(['mode-of-the-server', 'tenant-in-a-path'])
  })

  it('follow an option that is named like one, even if they begin with a hyphen', () => {
    const { folder } = site
    const args = ['--api-token', '-R4nd0m/t0ken', '--auth', '--verbose', '--password=-in-one-word']
    const config = readDefinition({ mcpServers: { a: { command: 'a', args } } }, { file: 'test', folder })
    expect(findConfigSecrets(config, { env: {}, root: folder })).toEqual(['-R4nd0m/t0ken', '-in-one-word'])
  })

  it('are inside its connection strings', () => {
    const { folder } = site
    const envFile = join(folder, 'more.env')
    writeFileSync(envFile, 'CACHE_URL=redis://:in%2Da-file-9@cache.local/0\n')
    const env = {
      DATABASE_URL: 'postgres://app:in-a-variable@db.local/app',
      DSN: 'Server=db;Uid=app;Password=in-a-pair;Port=5432',
    }
    const definition = {
      mcpServers: {
        a: { command: 'a', env, envFile },
        b: { url: 'https://b.example.com', headers: { 'X-Proxy': 'https://ann:in-a-header@proxy.local' } },
      },
    }
    const config = readDefinition(definition, { file: 'test', folder })
    const { hide } = createSecrets(findConfigSecrets(config, { env: {}, root: folder }))
    expect(hide('in-a-variable in-a-pair in-a-header in-a-file-9 in%2Da-file-9 db.local')).toBe(
      '*** *** *** *** *** db.local',
    )
  })

  it('reach no event, error, definition, log, cache, pin, recording or audit log', { timeout: 60_000 }, async () => {
    const [inEnv = '', inFile = '', inVariable = '', inArgument = ''] = fc.sample(printable, 4)
    // The server repeats everything it gets.
    const envFile = join(site.folder, 'secrets.env')
    writeFileSync(envFile, `LEAK_FILE='${inFile.replaceAll("'", '')}'\n`)
    const seen: unknown[] = []
    let hide = (text: string): string => text
    const recording = join(site.folder, 'recording.jsonl')
    const recorder = await recordTraffic(recording, {
      redactor: createRedactor({ hide: (text) => hide(text) }),
      version: '1',
      onProblem: (message) => seen.push(message),
    })
    const gateway = await site.create(
      {
        mcpServers: {
          leaky: {
            command: process.execPath,
            args: [LEAKY, '--token', inArgument],
            env: { LEAK_PLAIN: inEnv, LEAK_VARIABLE: '${MY_VARIABLE}' },
            envFile,
          },
        },
        audit: join(site.folder, 'audit.jsonl'),
        expose: 'all',
      },
      { env: { ...process.env, MY_VARIABLE: inVariable }, onTraffic: recorder.onTraffic },
    )
    hide = (text) => gateway.hideSecrets(text)
    const { url } = await gateway.http()
    for (const mode of ['legacy', 'auto'] as const) {
      const client = await site.connect(url, { mode })
      client.setNotificationHandler('notifications/message', (message) => void seen.push(message))
      if (mode === 'legacy') await client.setLoggingLevel('debug')
      seen.push(await client.listTools(), await client.listPrompts(), client.getInstructions())
      seen.push(await client.getPrompt({ name: 'p' }).catch((error: unknown) => [String(error), error]))
      for (const name of ['fail', 'refuse', 'crash'])
        seen.push(await client.callTool({ name, arguments: { text: inEnv, [inFile]: inVariable } }).catch(String))
    }
    expect(getText(seen.at(-3) as object)).toContain('I know ***')
    await vi.waitFor(() => expect(gateway.servers[0]?.state.type).toBe('failed'))
    seen.push(gateway.servers, site.events)
    await gateway.close()
    await recorder.close()
    const folder =
      readAll(join(site.folder, 'cache')) +
      readAll(site.data) +
      readAll(site.folder).replace(readFileSync(envFile, 'utf8'), '')
    const everything = `${JSON.stringify(seen)}\n${folder}`
    expect(everything.length).toBeGreaterThan(5_000)
    for (const one of [inEnv, inFile, inVariable, inArgument])
      for (const form of listForms(one)) expect(everything).not.toContain(form)
  })

  it.each(['legacy', 'auto'] as const)(
    'are removed from errors and progress before these are cut, %s',
    async (mode) => {
      const gateway = await site.create({
        mcpServers: { leaky: { command: process.execPath, args: [LEAKY], env: { LEAK_PLAIN: 'secret-0123456789' } } },
        expose: 'all',
      })
      const { url } = await gateway.http()
      const client = await site.connect(url, { mode })
      const progress: unknown[] = []
      const call = client.callTool(
        { name: 'refuse_at_length', arguments: {} },
        { onprogress: ({ message }) => void progress.push(message) },
      )
      const error: unknown = await call.catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({
        code: -32_050,
        message: expect.stringMatching(/z{9995}\*\*\*$/),
        data: { pad: 'z'.repeat(995), leak: expect.stringContaining('I know *** and ***') },
      })
      expect(progress).toEqual([`${'z'.repeat(995)}***`])
      expect(JSON.stringify([error, progress, site.events])).not.toContain('secret-0')
    },
  )
})
