import { describe, expect, it } from 'vitest'
import { UsageError } from './config.ts'
import { readDefinition } from './read-config.ts'

const ORIGIN = { file: 'servers.json', folder: '/home/ada/project' }

/** The mistakes that people make, and what they read. */
const IN_SERVERS: readonly (readonly [object, string])[] = [
  [{ command: 7 }, 'Its command must be a string.'],
  [{ command: [] }, 'Its command must be a string.'],
  [{ args: 'b' }, 'Its args must be a list.'],
  [{ args: [{}] }, 'Its args.0 must be a string, a number, true or false.'],
  [{ args: [null] }, 'Its args.0 must be a string, a number, true or false.'],
  [{ args: [Infinity] }, 'Its args.0 must be a string, a number, true or false.'],
  [{ args: ['a', []] }, 'Its args.1 must be a string, a number, true or false.'],
  [{ env: [] }, 'Its env must be an object.'],
  [{ env: 'A=1' }, 'Its env must be an object.'],
  [{ env: { A: null } }, 'Its env.A must be a string, a number, true or false.'],
  [{ env: { A: {} } }, 'Its env.A must be a string, a number, true or false.'],
  [{ env: { A: Infinity } }, 'Its env.A must be a string, a number, true or false.'],
  [{ env: new Date(0) }, 'Its env must be an object.'],
  [{ env: { constructor: [] } }, 'Its env.constructor must be a string, a number, true or false.'],
  [{ auth: [] }, 'Its auth must be an object.'],
  [{ auth: 'x' }, 'Its auth must be an object.'],
  [{ auth: { type: 'basic' } }, 'Its auth.type must be one of oauth, client-credentials, private-key-jwt.'],
  [{ auth: { type: 7 } }, 'Its auth.type must be one of oauth, client-credentials, private-key-jwt.'],
  [{ auth: { clientId: '' } }, 'Its auth.clientId must not be empty.'],
  [{ auth: { clientId: 7 } }, 'Its auth.clientId must be a string.'],
  [{ auth: { a: 1, b: 2 } }, 'Its auth has no setting called a, b.'],
  [{ auth: { type: 'basic', a: 1 } }, 'Its auth.type must be one of oauth, client-credentials, private-key-jwt.'],
  [{ auth: { scopes: 7 } }, 'Its auth.scopes must be a string or a list of strings.'],
  [{ auth: { scopes: [7] } }, 'Its auth.scopes.0 must be a string.'],
  [{ auth: { redirectPort: 0 } }, 'Its auth.redirectPort must be more than 0.'],
  [{ auth: { redirectPort: 70000 } }, 'Its auth.redirectPort must be at most 65535.'],
  [{ auth: { redirectPort: 1.5 } }, 'Its auth.redirectPort must be a whole number.'],
  [{ auth: { redirectPort: '80' } }, 'Its auth.redirectPort must be a number.'],
  [{ auth: { clientId: undefined } }, 'Its auth.clientId must be a string.'],
  [{ auth: JSON.parse('{"__proto__": 1}') as object }, 'Its auth has no setting called __proto__.'],
  [{ auth: { constructor: 1 } }, 'Its auth has no setting called constructor.'],
  [{ disabled: 'yes' }, 'Its disabled must be true or false.'],
  [{ required: null }, 'Its required must be true or false.'],
  [{ required: undefined }, 'Its required must be true or false.'],
  [{ start: 'soon' }, 'Its start must be one of lazy, eager.'],
  [{ isolate: 1 }, 'Its isolate must be true or false.'],
  [{ idleSeconds: '9' }, 'Its idleSeconds must be a number.'],
  [{ idleSeconds: -1 }, 'Its idleSeconds must be at least 0.'],
  [{ idleSeconds: 86401 }, 'Its idleSeconds must be at most 86400.'],
  [{ idleSeconds: Infinity }, 'Its idleSeconds must be a number.'],
  [{ idleSeconds: NaN }, 'Its idleSeconds must be a number.'],
  [{ timeoutSeconds: 0 }, 'Its timeoutSeconds must be more than 0.'],
  [{ timeoutSeconds: -1 }, 'Its timeoutSeconds must be more than 0.'],
  [{ timeoutSeconds: 1e6 }, 'Its timeoutSeconds must be at most 86400.'],
  [{ maxConcurrent: 0 }, 'Its maxConcurrent must be more than 0.'],
  [{ maxConcurrent: 1.5 }, 'Its maxConcurrent must be a whole number.'],
  [{ maxConcurrent: 1e300 }, 'Its maxConcurrent must be at most 9007199254740991.'],
  [{ maxConcurrent: -1e300 }, 'Its maxConcurrent must be at least -9007199254740991.'],
  [{ maxConcurrent: Infinity }, 'Its maxConcurrent must be a number.'],
  [{ maxConcurrent: 9007199254740992 }, 'Its maxConcurrent must be at most 9007199254740991.'],
  [{ maxProcesses: 0 }, 'Its maxProcesses must be more than 0.'],
  [{ maxResultBytes: -5 }, 'Its maxResultBytes must be more than 0.'],
  [{ headers: { A: null } }, 'Its headers.A must be a string, a number, true or false.'],
  [{ url: 7 }, 'Its url must be a string.'],
  [{ envFile: ['.env'] }, 'Its envFile must be a string.'],
  [{ auth: { scopes: ['a', null] } }, 'Its auth.scopes.1 must be a string.'],
  [{ foldResults: 1.5 }, 'Its foldResults must be a whole number.'],
  [{ foldResults: -1 }, 'Its foldResults must be at least 0.'],
  [{ forwardHeaders: 'a' }, 'Its forwardHeaders must be a list.'],
  [
    { forwardHeaders: ['Cookie'] },
    'Its forwardHeaders.0 must be the name of a custom header, not a protocol header or one that carries credentials for the gateway.',
  ],
  [
    { forwardHeaders: [7] },
    'Its forwardHeaders.0 must be the name of a custom header, not a protocol header or one that carries credentials for the gateway.',
  ],
  [
    { forwardHeaders: ['a b'] },
    'Its forwardHeaders.0 must be the name of a custom header, not a protocol header or one that carries credentials for the gateway.',
  ],
  [{ pin: 'on' }, 'Its pin must be one of off, flag, hold.'],
  [{ description: 7 }, 'Its description must be a string.'],
  [{ tools: 7 }, 'Its tools must be an object.'],
  [{ tools: { x: 7 } }, 'Its tools.x must be an object.'],
  [{ tools: { x: [] } }, 'Its tools.x must be an object.'],
  [{ tools: { x: { hidden: true } } }, 'Its tools.x has no setting called hidden.'],
  [{ tools: { x: { a: 1, b: 2, c: 3 } } }, 'Its tools.x has no setting called a, b, c.'],
  [{ tools: { x: { name: '' } } }, 'Its tools.x.name must not be empty.'],
  [{ tools: { x: { tags: [7] } } }, 'Its tools.x.tags.0 must be a string.'],
  [{ tools: { x: { tags: 'a' } } }, 'Its tools.x.tags must be a list.'],
  [{ tools: { x: { hide: 1 } } }, 'Its tools.x.hide must be true or false.'],
  [{ tools: { x: { timeoutSeconds: 0 } } }, 'Its tools.x.timeoutSeconds must be more than 0.'],
  [{ tools: { x: { parameters: [] } } }, 'Its tools.x.parameters must be an object.'],
  [{ tools: { x: { parameters: { p: 1 } } } }, 'Its tools.x.parameters.p must be an object.'],
  [{ tools: { x: { parameters: { p: { fix: 1 } } } } }, 'Its tools.x.parameters.p has no setting called fix.'],
  [
    { tools: { x: { parameters: { p: { description: 1 } } } } },
    'Its tools.x.parameters.p.description must be a string.',
  ],
  [{ tools: { constructor: { hidden: true } } }, 'Its tools.constructor has no setting called hidden.'],
  [{ tools: { x: null } }, 'Its tools.x must be an object.'],
  [{ args: 'b', command: 7 }, 'Its command must be a string.'],
  [{ tools: { x: { core: 1, a: 1 } } }, 'Its tools.x.core must be true or false.'],
]

const IN_SETTINGS: readonly (readonly [object, string])[] = [
  [{ expose: 'some' }, '"expose" must be one of auto, all, hybrid, meta-tool, two-phase, code.'],
  [{ expose: 7 }, '"expose" must be one of auto, all, hybrid, meta-tool, two-phase, code.'],
  [{ presets: [] }, '"presets" must be an object.'],
  [{ presets: { a: 7 } }, '"presets.a" must be an object.'],
  [{ presets: { a: { tools: [] } } }, '"presets.a" has no setting called tools.'],
  [{ presets: { a: { servers: 'a' } } }, '"presets.a.servers" must be a list.'],
  [{ presets: { a: { servers: [7] } } }, '"presets.a.servers.0" must be a string.'],
  [{ presets: { a: { include: {} } } }, '"presets.a.include" must be a list.'],
  [
    { presets: { a: { expose: 'x' } } },
    '"presets.a.expose" must be one of auto, all, hybrid, meta-tool, two-phase, code.',
  ],
  [{ presets: { a: { rules: [{ action: 'no' }] } } }, '"presets.a.rules.0.action" must be one of allow, deny, ask.'],
  [{ presets: { constructor: { tools: [] } } }, '"presets.constructor" has no setting called tools.'],
  [{ instructions: 7 }, '"instructions" must be a string.'],
  [{ foldResults: -1 }, '"foldResults" must be at least 0.'],
  [{ rules: {} }, '"rules" must be a list.'],
  [{ rules: [7] }, '"rules.0" must be an object.'],
  [{ rules: [{}] }, '"rules.0.action" must be one of allow, deny, ask.'],
  [{ rules: [{ action: 'no' }] }, '"rules.0.action" must be one of allow, deny, ask.'],
  [{ rules: [{ action: 'deny', client: '' }] }, '"rules.0.client" must be a pattern or a list of patterns.'],
  [{ rules: [{ action: 'deny', client: [] }] }, '"rules.0.client" must be a pattern or a list of patterns.'],
  [{ rules: [{ action: 'deny', client: 7 }] }, '"rules.0.client" must be a pattern or a list of patterns.'],
  [{ rules: [{ action: 'deny', user: [''] }] }, '"rules.0.user" must be a pattern or a list of patterns.'],
  [{ rules: [{ action: 'deny', preset: {} }] }, '"rules.0.preset" must be a pattern or a list of patterns.'],
  [{ rules: [{ action: 'deny', server: null }] }, '"rules.0.server" must be a pattern or a list of patterns.'],
  [
    { rules: [{ action: 'deny', tool: 'x' }] },
    '"rules.0.tool" must be a pattern over server/tool, such as "github/delete_*" or "*/delete_*", or a list of them.',
  ],
  [
    { rules: [{ action: 'deny', tool: ['a/b', 'x'] }] },
    '"rules.0.tool" must be a pattern over server/tool, such as "github/delete_*" or "*/delete_*", or a list of them.',
  ],
  [
    { rules: [{ action: 'deny', annotation: 'x' }] },
    '"rules.0.annotation" must be readOnly, destructive or openWorld, or a list of them.',
  ],
  [{ rules: [{ action: 'deny', reason: '' }] }, '"rules.0.reason" must not be empty.'],
  [{ rules: [{ action: 'deny', reason: 7 }] }, '"rules.0.reason" must be a string.'],
  [{ rules: [{ action: 'deny', tools: 'a/b', x: 1 }] }, '"rules.0" has no setting called tools, x.'],
  [{ rules: [{ tools: 'a/b' }] }, '"rules.0.action" must be one of allow, deny, ask.'],
  [{ rules: [{ action: 'deny', client: undefined }] }, '"rules.0.client" must be a pattern or a list of patterns.'],
  [{ quotas: {} }, '"quotas" must be a list.'],
  [{ quotas: [{}] }, '"quotas.0.calls" must be a number.'],
  [{ quotas: [{ calls: 0, per: 'day' }] }, '"quotas.0.calls" must be more than 0.'],
  [{ quotas: [{ calls: 1e10, per: 'day' }] }, '"quotas.0.calls" must be at most 1000000000.'],
  [{ quotas: [{ calls: 1e300, per: 'day' }] }, '"quotas.0.calls" must be at most 9007199254740991.'],
  [{ quotas: [{ calls: 1 }] }, '"quotas.0.per" must be one of second, minute, hour, day.'],
  [
    { quotas: [{ calls: 1, per: 'day', each: 'x' }] },
    '"quotas.0.each" must be user, client, preset, server or tool, or a list of them.',
  ],
  [{ quotas: [{ calls: 1, per: 'day', action: 'deny' }] }, '"quotas.0" has no setting called action.'],
  [{ quotas: Array.from({ length: 101 }, () => ({ calls: 1, per: 'day' })) }, '"quotas" must have at most 100 items.'],
  [{ quotas: Array.from({ length: 101 }, () => 7) }, '"quotas" must have at most 100 items.'],
  [{ pin: 'on' }, '"pin" must be one of off, flag, hold.'],
  [{ http: [] }, '"http" must be an object.'],
  [{ http: { port: 1 } }, '"http" has no setting called port.'],
  [{ http: { host: '' } }, '"http.host" must not be empty.'],
  [{ http: { tokens: 'a' } }, '"http.tokens" must be a list.'],
  [{ http: { tokens: [''] } }, '"http.tokens.0" must not be empty.'],
  [{ http: { tokens: [7] } }, '"http.tokens.0" must be a string or an object.'],
  [{ http: { tokens: [{}] } }, '"http.tokens.0.user" must be a string.'],
  [{ http: { tokens: [{ user: 'a' }] } }, '"http.tokens.0.token" must be a string.'],
  [{ http: { tokens: [{ user: 'a', token: '' }] } }, '"http.tokens.0.token" must not be empty.'],
  [{ http: { tokens: [{ user: 7, token: 'a' }] } }, '"http.tokens.0.user" must be a string.'],
  [{ http: { tokens: [{ user: 'a', token: 'b', x: 1 }] } }, '"http.tokens.0" has no setting called x.'],
  [{ http: { tokens: [[]] } }, '"http.tokens.0" must be a string or an object.'],
  [{ http: { allowedHosts: [''] } }, '"http.allowedHosts.0" must not be empty.'],
  [{ http: { publicUrl: 'x' } }, '"http.publicUrl" must be a URL that begins with http:// or https://.'],
  [{ http: { publicUrl: 7 } }, '"http.publicUrl" must be a URL that begins with http:// or https://.'],
  [{ audit: 7 }, '"audit" must be true, false, a string or an object.'],
  [{ audit: '' }, '"audit" must not be empty.'],
  [{ audit: [] }, '"audit" must be true, false, a string or an object.'],
  [{ audit: { fil: 'a' } }, '"audit" has no setting called fil.'],
  [{ audit: { file: '' } }, '"audit.file" must not be empty.'],
  [{ audit: { file: 7 } }, '"audit.file" must be a string.'],
  [{ audit: { file: 7, fil: 'a' } }, '"audit.file" must be a string.'],
  [{ audit: { maxBytes: 10 } }, '"audit.maxBytes" must be at least 1000.'],
  [{ audit: { maxBytes: 1000.5 } }, '"audit.maxBytes" must be a whole number.'],
  [{ audit: { maxBytes: 1e300 } }, '"audit.maxBytes" must be at most 9007199254740991.'],
  [{ audit: { keep: 0 } }, '"audit.keep" must be at least 1.'],
  [{ audit: { keep: 1001 } }, '"audit.keep" must be at most 1000.'],
  [{ audit: { keepDays: 36501 } }, '"audit.keepDays" must be at most 36500.'],
  [{ audit: { a: 1, b: 1 } }, '"audit" has no setting called a, b.'],
  [{ store: 7 }, '"store" must be a string or an object.'],
  [{ store: '' }, '"store" must not be empty.'],
  [{ store: {} }, '"store.url" must be a string.'],
  [{ store: { url: 7 } }, '"store.url" must be a string.'],
  [{ store: { url: 'a', x: 1 } }, '"store" has no setting called x.'],
  [{ store: { url: '' } }, '"store.url" must not be empty.'],
  [{ store: { url: 'a', key: 7 } }, '"store.key" must be a string.'],
  [{ store: [] }, '"store" must be a string or an object.'],
  [{ audit: { keep: '5' } }, '"audit.keep" must be a number.'],
  [{ audit: null }, '"audit" must be true, false, a string or an object.'],
  [{ store: { url: 'a', schema: '' } }, '"store.schema" must not be empty.'],
]

describe('a mistake in a configuration', () => {
  it.each(IN_SERVERS)('of a server is described: %j', (fields, reason) => {
    const { servers, invalid } = readDefinition({ mcpServers: { a: { command: 'a', ...fields } } }, ORIGIN)
    expect({ servers, invalid }).toEqual({ servers: [], invalid: [{ name: 'a', reason }] })
  })

  it.each(IN_SETTINGS)('of the gateway is described: %j', (settings, message) => {
    const reading = (): unknown => readDefinition({ mcpServers: {}, ...settings }, ORIGIN)
    expect(reading).toThrow(new UsageError(`servers.json: ${message}`))
  })

  it('is described in words, not in those of a validator', () => {
    const messages = [...IN_SERVERS, ...IN_SETTINGS].map(([, message]) => message)
    expect(messages.filter((message) => /expected|too (?:small|big)|invalid|[<>]=?\d/i.test(message))).toEqual([])
  })

  it('is not to use the names of an object, except __proto__', () => {
    const env = { constructor: 'a', prototype: 1, toString: true }
    const tools = { constructor: { hide: true } }
    const presets = { constructor: { servers: ['a'] }, prototype: {} }
    const config = readDefinition({ mcpServers: { a: { command: 'a', env, tools } }, presets }, ORIGIN)
    expect(config.servers).toMatchObject([{ env: { constructor: 'a', prototype: '1', toString: 'true' } }])
    expect(config.servers[0]?.overrides).toEqual(new Map(Object.entries(tools)))
    expect(config.presets).toEqual(new Map(Object.entries(presets)))
  })

  it('is to have servers under two keys, of which only one is used', () => {
    const definition = { mcpServers: { a: { command: 'a' } }, servers: { b: { command: 'b' } } }
    const { servers, doubts } = readDefinition(definition, ORIGIN)
    expect(servers.map(({ name }) => name)).toEqual(['a'])
    expect(doubts).toEqual([
      'servers.json has both "mcpServers" and "servers". Only the servers in "mcpServers" are used. Move the others there.',
    ])
    expect(readDefinition({ ...definition, mcpServers: null }, ORIGIN)).toMatchObject({
      servers: [{ name: 'b' }],
      doubts: [],
    })
  })

  it('is found in a large configuration, and values of any depth are left as they are', () => {
    const env = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`NAME_${i}`, i]))
    const { servers, invalid } = readDefinition(
      { mcpServers: { good: { command: 'a', env }, bad: { command: 'a', env: { ...env, LAST: null } } } },
      ORIGIN,
    )
    expect(servers).toMatchObject([{ name: 'good', env: { NAME_99999: '99999' } }])
    expect(invalid).toMatchObject([{ reason: 'Its env.LAST must be a string, a number, true or false.' }])
    const deep = JSON.parse(`${'['.repeat(5_000)}1${']'.repeat(5_000)}`) as unknown
    const parameters = { at: { fixed: deep, default: undefined } }
    const read = readDefinition({ mcpServers: { a: { command: 'a', tools: { pay: { parameters } } } } }, ORIGIN)
    expect(read.servers[0]?.overrides.get('pay')?.parameters?.['at']?.fixed).toBe(deep)
  })
})
