import { describe, expect, it } from 'vitest'
import { readDefinition } from '../../config/read-config.ts'
import { findConfigSecrets } from './find-secrets.ts'
import { createSecrets } from './secrets.ts'
import { createRedactor } from './redact.ts'

const redactor = createRedactor(createSecrets(['hunter2-hunter2', 'short']))

describe('R58 what a recording keeps', () => {
  it.each([
    [{ api_key: 'x' }, { api_key: '***' }],
    [{ user: { password: { a: 1 } } }, { user: { password: '***' } }],
    [{ text: 'the key sk-abcdefghijklmnopqrst is mine' }, { text: 'the key *** is mine' }],
    [{ text: 'say "hunter2-hunter2!"' }, { text: 'say "***!"' }],
    [{ url: 'https://ann:pw@example.com/a?q=1' }, { url: 'https://***@example.com/a?q=***' }],
    [{ list: ['Bearer eyJabcdefghijklmnop.abc'] }, { list: ['Bearer ***'] }],
  ])('of %j has no secrets', (value, expected) => {
    expect(redactor.redactJson(value)).toEqual({ value: expected, isRedacted: true })
  })

  it.each([
    { city: 'Oslo', max_tokens: 7, isKey: true, keys: null },
    { text: 'A short text: with punctuation, (brackets) and "quotes".' },
    JSON.parse('{"__proto__": {"a": 1}, "constructor": "b"}') as object,
  ])('of %j is complete', (value) => {
    const { value: kept, isRedacted } = redactor.redactJson(value)
    expect(JSON.stringify(kept)).toBe(JSON.stringify(value))
    expect(isRedacted).toBe(false)
  })

  it('leaves out what is too large or too deep', () => {
    let deep: unknown = 'x'
    for (let i = 0; i < 100_000; i++) deep = [deep]
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    for (const value of [{ text: 'x'.repeat(4_000_000) }, { deep }, cycle, { big: 1n }])
      expect(redactor.redactJson(value)).toEqual({ value: undefined, isRedacted: true })
    expect(redactor.redactText('x'.repeat(4_000_000))).toEqual({ value: '', isRedacted: true })
  })

  it('leaves out the values of the configuration and the environment', () => {
    const config = readDefinition(
      {
        mcpServers: {
          a: { command: 'a', env: { ANY: 'from-the-config' } },
          b: { url: 'http://b', headers: { Authorization: 'Bearer from-a-header', Other: '${VARIABLE}' } },
        },
      },
      { file: 'x', folder: '/' },
    )
    const env = { MY_TOKEN: 'from-the-environment', PATH: '/usr/bin/something' }
    const secrets = createSecrets(findConfigSecrets(config, { env, root: undefined }))
    const { redactText } = createRedactor(secrets)
    const text = 'from-the-config from-a-header from-the-environment /usr/bin/something ${VARIABLE}'
    expect(redactText(text).value).toBe('*** *** *** /usr/bin/something ${VARIABLE}')
  })
})
