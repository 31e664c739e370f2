import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { recordTraffic } from '../traffic/record.ts'
import { createRedactor } from '../traffic/redact.ts'
import { createSite, getText, type Site } from './gateway.fixtures.ts'
import { readDefinition } from '../config/read-config.ts'
import { createSecrets, findConfigSecrets } from './secrets.ts'

const LEAKY = join(import.meta.dirname, 'leaky-server.fixtures.mjs')

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
})
