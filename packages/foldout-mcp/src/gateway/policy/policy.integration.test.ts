import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { GatewayDefinition } from '../config/definition.ts'
import { createApprovalFiles } from './approvals/approval-files.ts'
import { createRedactor } from './secrets/redact.ts'
import { openAuditLog } from './audit/audit.ts'
import { APPROVAL_MS, MAX_APPROVALS_EACH } from './approvals/limits.ts'
import { createSecrets } from './secrets/secrets.ts'
import { createSite, FULL_SERVER, getText, serveTools, type Site } from './gateway.fixtures.ts'

/** Callers, as a store tells them apart. */
const ANN = 'a'.repeat(16)
const BOB = 'b'.repeat(16)

const TOOLS = [
  { name: 'get_note', description: 'Reads a note.', annotations: { readOnlyHint: true } },
  { name: 'delete_note', description: 'Deletes a note.' },
]

let site: Site
beforeEach(() => {
  site = createSite()
})
afterEach(() => site.close())

const define = (more: Partial<GatewayDefinition> = {}): GatewayDefinition => ({
  mcpServers: { notes: serveTools(TOOLS) },
  foldResults: 0,
  ...more,
})

async function listNames(client: Client): Promise<readonly string[]> {
  return (await client.listTools()).tools.map(({ name }) => name)
}

async function callTool(client: Client, name: string, args: object = {}) {
  return client.callTool({ name, arguments: { ...args } })
}

const useTool = (client: Client, name: string, args: object = {}) =>
  callTool(client, 'use_tool', { name, arguments: args })

describe('R56 a rule or a preset that names a tool', () => {
  const TOOLS = ['delete.db', 'wipe all', 'drop/table', '\uFF45rase_x', `${'x'.repeat(80)}_tail`, 'keep']
  const define = (more: GatewayDefinition): GatewayDefinition => ({
    mcpServers: { a: serveTools(TOOLS.map((name) => ({ name }))), b: serveTools([{ name: 'wipe all' }]) },
    expose: 'all',
    foldResults: 0,
    ...more,
  })

  it('may use the name that clients see', async () => {
    const seen = (await (await site.create(define({}))).getCatalog()).tools.map(({ name, source }) => ({
      name,
      source,
    }))
    expect(seen.map(({ name }) => name)).toContain('a__wipe_all')
    const names = seen.filter(({ name, source }) => name !== 'keep' && source === 'a').map(({ name }) => `a/${name}`)
    const rules = [{ action: 'deny', tool: names }] as const
    const gateway = await site.create(define({ rules, presets: { p: { exclude: names }, q: { include: names } } }))
    const list = async (preset = ''): Promise<readonly string[]> =>
      (await gateway.getCatalog({ preset })).tools.map(({ qualified }) => qualified)
    expect(await list()).toEqual(['a/keep', 'b/wipe all'])
    await gateway.update(define({ presets: { p: { exclude: names }, q: { include: names } } }))
    expect(await list('p')).toEqual(['a/keep', 'b/wipe all'])
    expect(await list('q')).toHaveLength(names.length)
  })

  it('may use the own name of a tool that was renamed', async () => {
    const tools = { 'delete.db': { name: 'cleanup' } }
    const server = serveTools([{ name: 'delete.db' }, { name: 'keep' }], { tools })
    const gateway = await site.create({ mcpServers: { a: server }, presets: { p: { exclude: ['a/delete*'] } } })
    expect((await gateway.getCatalog({ preset: 'p' })).tools.map(({ name }) => name)).toEqual(['keep'])
  })

  it('may allow it before another rule denies the rest of its server', async () => {
    const rules = [
      { action: 'allow', tool: 'a/keep' },
      { action: 'deny', server: 'a' },
    ] as const
    const gateway = await site.create(define({ rules }))
    expect((await gateway.getCatalog()).tools.map(({ qualified }) => qualified)).toEqual(['a/keep', 'b/wipe all'])
  })
})

describe.each(['legacy', 'auto'] as const)('R56 a client in the era %s', (mode) => {
  it('cannot list, find or call what is denied, in any way', async () => {
    const gateway = await site.create(define({ expose: 'hybrid', rules: [{ action: 'deny', tool: 'notes/delete_*' }] }))
    const { url } = await gateway.http()
    const client = await site.connect(url, { mode })
    expect(getText(await callTool(client, 'search_tools', { query: 'delete a note' }))).not.toContain('delete_note')
    for (const name of ['delete_note', 'notes/delete_note', 'notes_delete_note', 'DELETE-NOTE']) {
      const [direct, through] = [await callTool(client, name), await useTool(client, name)]
      expect([direct.isError, through.isError]).toEqual([true, true])
      expect(getText(through)).toMatch(/^Tool '[^']+' not found\./)
    }
    expect((await useTool(client, 'get_note')).isError).toBeUndefined()
  })

  it('cannot run it from a program either', async () => {
    const gateway = await site.create(define({ expose: 'code', rules: [{ action: 'deny', tool: 'notes/delete_*' }] }))
    const { url } = await gateway.http()
    const client = await site.connect(url, { mode })
    const run = (code: string) => callTool(client, 'run_code', { code })
    expect(getText(await run('return Object.keys(notes)'))).not.toContain('delete')
    expect(getText(await run('return await notes.get_note({})'))).toContain('args')
    expect((await run('return await notes.delete_note({})')).isError).toBe(true)
  })

  it('sees what the rules for its name allow', async () => {
    const rules = [{ action: 'deny', client: 'cursor*', annotation: 'destructive' }] as const
    const gateway = await site.create(define({ expose: 'all', rules }))
    const { url } = await gateway.http()
    expect(await listNames(await site.connect(url, { mode, name: 'Cursor' }))).toEqual(['get_note'])
    expect(await listNames(await site.connect(url, { mode, name: 'zed' }))).toEqual(['delete_note', 'get_note'])
    const catalog = await gateway.getCatalog()
    expect(catalog.tools.map(({ name }) => name)).toEqual(['delete_note', 'get_note'])
  })

  it('has a call approved by its user, once and for exactly this call', async () => {
    const rules = [{ action: 'ask', annotation: 'destructive', reason: 'Notes cannot be restored.' }] as const
    const gateway = await site.create(define({ expose: 'hybrid', rules }))
    const { url } = await gateway.http()
    const client = await site.connect(url, { mode, capabilities: { elicitation: { form: {} } } })
    const asked = vi.fn(async (_request: unknown) => ({ action: 'accept' as 'accept' | 'decline', content: {} }))
    client.setRequestHandler('elicitation/create', asked as never)
    const args = { id: 7, text: 'line\n\nYou may approve.\u202E' }
    expect(getText(await useTool(client, 'delete_note', args))).toContain('"id":7')
    expect(asked).toHaveBeenCalledTimes(1)
    expect(asked.mock.calls[0]?.[0]).toMatchObject({
      params: {
        message:
          "The client 'test' wants to call notes/delete_note once, with these arguments:\n\n" +
          '{\n  "id": 7,\n  "text": "line\\n\\nYou may approve.<U+202E>"\n}\n\nNotes cannot be restored.',
      },
    })
    expect((await useTool(client, 'delete_note', args)).isError).toBeUndefined()
    expect(asked).toHaveBeenCalledTimes(2)
    asked.mockResolvedValue({ action: 'decline', content: {} })
    expect(getText(await useTool(client, 'delete_note', args))).toBe(
      "Tool 'notes/delete_note' was not run: the user did not approve it.",
    )
    await useTool(client, 'get_note')
    expect(asked).toHaveBeenCalledTimes(3)
  })

  it('is asked for approval first, and then by the server', async () => {
    const gateway = await site.create({
      mcpServers: { full: { command: process.execPath, args: [FULL_SERVER] } },
      rules: [{ action: 'ask', tool: 'full/ask_color' }],
      expose: 'all',
    })
    const { url } = await gateway.http()
    const client = await site.connect(url, { mode, capabilities: { elicitation: { form: {} } } })
    const asked = vi.fn(async (_request: unknown) => ({ action: 'accept' as const, content: { color: 'green' } }))
    client.setRequestHandler('elicitation/create', asked as never)
    expect(getText(await callTool(client, 'ask_color'))).toBe('The color is green.')
    expect(asked).toHaveBeenCalledTimes(2)
  })

  it('that cannot ask its user learns what the user can do, and the approval counts once', async () => {
    const gateway = await site.create(define({ expose: 'all', rules: [{ action: 'ask', tool: '*/delete_*' }] }))
    const { url } = await gateway.http()
    const client = await site.connect(url, { mode })
    const refusal = getText(await callTool(client, 'delete_note', { id: 1 }))
    const [, id = ''] = /foldout approve --call ([0-9a-f]{16})/.exec(refusal) ?? []
    expect(refusal).toBe(
      `Tool 'notes/delete_note' was not run: the user has to approve it. Ask the user to run "foldout approve --call ${id}" within 10 minutes, then call the tool again with the same arguments. A rule in the gateway's configuration can allow it permanently.`,
    )
    const files = createApprovalFiles(join(site.data, 'approvals'))
    // Repeating the call does not add a second waiting call.
    await callTool(client, 'delete_note', { id: 1 })
    expect(await files.list()).toMatchObject([
      { id, tool: 'notes/delete_note', client: 'test', preset: '', arguments: '{\n  "id": 1\n}' },
    ])
    await files.approve(id)
    expect(await files.list()).toEqual([])
    await expect(files.approve(id)).rejects.toThrow(/No call with the id/)
    const other = await site.connect(url, { mode, name: 'other' })
    expect((await callTool(client, 'delete_note', { id: 2 })).isError).toBe(true)
    expect((await callTool(other, 'delete_note', { id: 1 })).isError).toBe(true)
    const results = await Promise.all(Array.from({ length: 5 }, () => callTool(client, 'delete_note', { id: 1 })))
    expect(results.filter(({ isError }) => isError !== true)).toHaveLength(1)
  })
})

describe('R56 approvals', () => {
  it('cannot be forged: with another state, another tool, other arguments, or twice', async () => {
    const gateway = await site.create(define({ expose: 'all', rules: [{ action: 'ask' }] }))
    const { url } = await gateway.http()
    const client = await site.connect(url, { mode: 'auto', capabilities: { elicitation: {} } })
    const states: unknown[] = []
    const send = async (name: string, args: object, state?: unknown): Promise<Readonly<Record<string, unknown>>> => {
      const input =
        state === undefined
          ? {}
          : { requestState: state, inputResponses: { approval: { action: 'accept', content: {} } } }
      const body = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name,
          arguments: args,
          ...input,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
          },
        },
      }
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': name,
        },
        body: JSON.stringify(body),
      })
      const text = await response.text()
      const json = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}')
      const { result = {} } = JSON.parse(json) as { result?: Readonly<Record<string, unknown>> }
      if (result['requestState'] !== undefined) states.push(result['requestState'])
      return result
    }
    const isQuestion = { resultType: 'input_required' }
    expect(await send('delete_note', { id: 1 })).toMatchObject(isQuestion)
    expect(await send('delete_note', { id: 1 }, 'foldout-approval-guess')).toMatchObject(isQuestion)
    expect(await send('delete_note', { id: 2 }, states[0])).toMatchObject({ isError: true })
    // A state that was tried with another call is used up.
    expect(await send('delete_note', { id: 1 }, states[0])).toMatchObject(isQuestion)
    expect(await send('get_note', { id: 1 }, states[1])).toMatchObject({ isError: true })
    expect((await send('delete_note', { id: 1 }, states[2]))['isError']).toBeUndefined()
    expect(await send('delete_note', { id: 1 }, states[2])).toMatchObject(isQuestion)
    await client.close()
  })

  it('cannot be given for ids that are paths, or for damaged or expired calls', async () => {
    let time = 1_000
    const files = createApprovalFiles(join(site.data, 'approvals'), () => time)
    for (const id of ['../../etc/passwd', '', 'x'.repeat(10_000), '__proto__'])
      await expect(files.approve(id)).rejects.toThrow(/No call with the id/)
    const id = '0123456789abcdef'
    const call = { id, binding: 'b', preset: '', tool: 'a/b', arguments: '{}' }
    expect(await files.ask(call, ANN)).toBe('waiting')
    time += APPROVAL_MS
    expect(await files.list()).toEqual([])
    await expect(files.approve(id)).rejects.toThrow(/No call with the id/)
    expect(await files.ask(call, ANN)).toBe('waiting')
    await files.approve(id)
    expect(await files.use(id, 'another')).toBe(false)
    time = 10_000_000
    expect(await files.use(id, 'b')).toBe(false)
    expect(readdirSync(join(site.data, 'approvals'))).toEqual([])
  })
})

describe('R56 calls that wait for an approval', () => {
  const toCall = (i: number) => ({
    id: i.toString(16).padStart(16, '0'),
    binding: `binding-${i}`,
    preset: '',
    tool: 'a/b',
    arguments: '{}',
  })

  it('are limited for each caller, so that one cannot keep others from asking', async () => {
    let time = 1_000
    const files = createApprovalFiles(join(site.data, 'approvals'), () => time)
    for (let i = 0; i < MAX_APPROVALS_EACH; i++) expect(await files.ask(toCall(i), ANN)).toBe('waiting')
    expect(await files.ask(toCall(1_000), ANN)).toBe('too-many')
    expect(await files.ask(toCall(0), ANN)).toBe('waiting')
    expect(await files.ask(toCall(2_000), BOB)).toBe('waiting')
    await files.deny(toCall(0).id)
    expect(await files.ask(toCall(1_000), ANN)).toBe('waiting')
    expect(await files.list()).toHaveLength(MAX_APPROVALS_EACH + 1)
    // Those that have expired do not count.
    time += APPROVAL_MS
    expect(await files.ask(toCall(3_000), ANN)).toBe('waiting')
    expect(await files.list()).toHaveLength(1)
  })

  it('are limited for each caller of the modern era, too', async () => {
    const files = createApprovalFiles(join(site.data, 'approvals'))
    const begin = (asker: string) => files.beginRound({ binding: 'b' }, asker)
    for (let i = 0; i < MAX_APPROVALS_EACH; i++) expect(await begin(ANN)).toBeTypeOf('string')
    expect(await begin(ANN)).toBeUndefined()
    expect(await begin(BOB)).toBeTypeOf('string')
  })

  it('are counted by user, whatever a client calls itself', async () => {
    const rules = [{ action: 'ask' }] as const
    const http = { tokens: ['ada', 'bob'].map((user) => ({ user, token: `token-of-${user}` })) }
    const gateway = await site.create(define({ expose: 'all', rules, http }))
    const { url } = await gateway.http()
    const connect = (user: string, name: string) =>
      site.connect(url, { name, headers: { authorization: `Bearer token-of-${user}` } })
    const [one, two, other] = [await connect('bob', 'one'), await connect('bob', 'two'), await connect('ada', 'one')]
    for (let i = 0; i < MAX_APPROVALS_EACH; i++) await callTool(i % 2 === 0 ? one : two, 'get_note', { i })
    expect(getText(await callTool(one, 'get_note', {}))).toBe(
      "Tool 'notes/get_note' was not run: the user has to approve it, and too many calls wait for an approval already.",
    )
    expect(getText(await callTool(other, 'get_note', {}))).toContain('Ask the user to run "foldout approve --call')
  })
})

describe('R56 a call with arguments that the configuration sets', () => {
  it('is approved and logged with all of them', async () => {
    const parameters = { path: { fixed: '/etc/hosts' }, mode: { default: 'new' } }
    const file = join(site.folder, 'audit.jsonl')
    const gateway = await site.create({
      mcpServers: { notes: serveTools(TOOLS, { tools: { delete_note: { parameters } } }) },
      expose: 'all',
      rules: [{ action: 'ask', tool: '*/delete_*' }],
      audit: { file },
    })
    const { url } = await gateway.http()
    await callTool(await site.connect(url), 'delete_note', { id: 1 })
    const all = { mode: 'new', id: 1, path: '/etc/hosts' }
    const [waiting] = await gateway.approvals.list()
    expect(JSON.parse(waiting?.arguments ?? '')).toEqual(all)
    await gateway.close()
    expect(readFileSync(file, 'utf8')).toContain(JSON.stringify(all))
  })
})

describe('R56 a denied call', () => {
  it('is refused without asking again, and only that call', async () => {
    const gateway = await site.create(define({ expose: 'all', rules: [{ action: 'ask', tool: '*/delete_*' }] }))
    const { url } = await gateway.http()
    const client = await site.connect(url)
    await callTool(client, 'delete_note', { id: 1 })
    const [waiting] = await gateway.approvals.list()
    expect(waiting).not.toHaveProperty('binding')
    await gateway.approvals.deny(waiting?.id ?? '')
    expect(await gateway.approvals.list()).toEqual([])
    await expect(gateway.approvals.approve(waiting?.id ?? '')).rejects.toThrow(/No call with the id/)
    const again = getText(await callTool(client, 'delete_note', { id: 1 }))
    expect(again).toBe("Tool 'notes/delete_note' was not run: the user did not approve it.")
    expect(await gateway.approvals.list()).toEqual([])
    expect(getText(await callTool(client, 'delete_note', { id: 2 }))).toContain('the user has to approve it')
    expect(await gateway.approvals.list()).toMatchObject([{ tool: 'notes/delete_note', arguments: '{\n  "id": 2\n}' }])
  })

  it('is decided once, by the first of several decisions', async () => {
    const files = createApprovalFiles(join(site.data, 'approvals'))
    const id = '0123456789abcdef'
    const call = {
      id,
      binding: 'b',
      preset: '',
      tool: 'a/b',
      arguments: '{}',
      askedAt: '',
      expiresAt: Date.now() + 1e6,
    }
    await files.ask(call, ANN)
    const decided = await Promise.allSettled([files.approve(id), files.deny(id), files.approve(id), files.deny(id)])
    expect(decided.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})

describe('R56 a change of the rules', () => {
  it('applies to connected clients', async () => {
    const gateway = await site.create(define({ expose: 'all' }))
    const { url } = await gateway.http()
    const client = await site.connect(url)
    expect(await listNames(client)).toHaveLength(2)
    await gateway.update(define({ expose: 'all', rules: [{ action: 'deny', tool: 'notes/delete_*' }] }))
    await vi.waitFor(async () => expect(await listNames(client)).toEqual(['get_note']))
    expect((await callTool(client, 'delete_note')).isError).toBe(true)
    await gateway.update(define({ expose: 'all', rules: [{ action: 'deny', client: 'test' }] }))
    expect((await callTool(client, 'get_note')).isError).toBe(true)
  })

  it('hides everything of a denied server', async () => {
    const mcpServers = { full: { command: process.execPath, args: [FULL_SERVER] }, notes: serveTools(TOOLS) }
    const gateway = await site.create({
      mcpServers,
      presets: { work: { rules: [{ action: 'deny', server: 'full' }] } },
    })
    const { url } = await gateway.http()
    const client = await site.connect(`${url}/work`)
    expect((await client.listResources()).resources).toEqual([])
    await expect(client.readResource({ uri: 'test://static' })).rejects.toThrow(/not found/i)
    expect(await listNames(client)).toEqual(['read_result', 'delete_note', 'get_note'])
    expect((await (await site.connect(url)).listResources()).resources).toHaveLength(1)
  })

  it.each(['legacy', 'auto'] as const)('hides it from some clients only, in the era %s', async (mode) => {
    const mcpServers = { full: { command: process.execPath, args: [FULL_SERVER] } }
    const gateway = await site.create({ mcpServers, rules: [{ action: 'allow', client: 'zed' }, { action: 'deny' }] })
    const { url } = await gateway.http()
    const [zed, other] = [
      await site.connect(url, { mode, name: 'zed' }),
      await site.connect(url, { mode, name: 'other' }),
    ]
    expect((await zed.listResources()).resources).toHaveLength(1)
    expect((await other.listResources()).resources).toEqual([])
    await expect(other.readResource({ uri: 'test://static' })).rejects.toThrow(/not found|unknown|support/i)
    await expect(other.getPrompt({ name: 'greet', arguments: { who: 'Ann' } })).rejects.toThrow(
      /not found|unknown|support/i,
    )
    expect(await listNames(zed)).toContain('where')
    expect(await listNames(other)).not.toContain('where')
  })
})

describe('R56 the audit log', () => {
  const read = (file: string): readonly Readonly<Record<string, unknown>>[] =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)

  it('names the client, the inner tool, its arguments without secrets, and the outcome', async () => {
    const file = join(site.folder, 'logs', 'audit.jsonl')
    const definition = define({ expose: 'hybrid', audit: file, rules: [{ action: 'ask', tool: '*/delete_*' }] })
    const mcpServers = { notes: serveTools(TOOLS, { env: { ANYTHING: 'secret-of-the-server' } }) }
    const gateway = await site.create({ ...definition, mcpServers })
    const { url } = await gateway.http()
    const client = await site.connect(url)
    const args = { password: 'x', text: 'secret-of-the-server', long: 'y '.repeat(2_000_000) }
    await useTool(client, 'get_note', args)
    await useTool(client, 'delete_note')
    await gateway.close()
    const text = readFileSync(file, 'utf8')
    expect(text).not.toContain('secret-of-the-server')
    expect(text.length).toBeLessThan(5_000)
    expect(read(file)).toMatchObject([
      {
        client: { name: 'test' },
        preset: '',
        tool: 'notes/get_note',
        outcome: 'ok',
        arguments: {
          password: '***',
          text: '***',
          long: expect.stringMatching(/^(?:y )+… \(3999000 more characters\)$/),
        },
        durationMs: expect.any(Number),
        bytes: expect.any(Number),
      },
      { tool: 'notes/delete_note', outcome: 'not approved', arguments: {} },
    ])
  })

  it('has the calls of tools that a rule denies, however they are called', async () => {
    const file = join(site.folder, 'denied.jsonl')
    const rules = [{ action: 'deny' as const, tool: '*/delete_*' }]
    const gateway = await site.create(define({ expose: 'hybrid', audit: file, rules }))
    const { url } = await gateway.http()
    const client = await site.connect(url)
    await useTool(client, 'delete_note', { id: 1, password: 'x' })
    await useTool(client, 'notes/delete_note', { id: 2 })
    await callTool(client, 'delete_note', { id: 3 })
    await useTool(client, 'nothing', {})
    await callTool(client, 'search_tools', { query: 'delete_note' })
    await useTool(client, 'get_note', { name: 'delete_note' })
    await gateway.close()
    expect(read(file)).toMatchObject([
      { client: { name: 'test' }, tool: 'notes/delete_note', outcome: 'denied', arguments: { id: 1, password: '***' } },
      { tool: 'notes/delete_note', outcome: 'denied', arguments: { id: 2 } },
      { tool: 'notes/delete_note', outcome: 'denied', arguments: { id: 3 } },
      { tool: 'notes/get_note', outcome: 'ok' },
    ])
  })

  it('has no half of a secret where it cuts a text or a name', async () => {
    const file = join(site.folder, 'cut.jsonl')
    const secret = 'secret-of-the-server'
    const mcpServers = { notes: serveTools(TOOLS, { env: { ANYTHING: secret, OTHER: 'x'.repeat(2_000) } }) }
    const gateway = await site.create(define({ expose: 'all', audit: file, mcpServers }))
    const { url } = await gateway.http()
    const client = await site.connect(url, { name: `${'n'.repeat(190)}${secret}` })
    // However much is hidden before the cut, and wherever the search for secrets stops.
    for (const before of [
      'y '.repeat(495),
      'x'.repeat(2_000),
      'y '.repeat(4_590),
      `${'x'.repeat(2_000)}${'y '.repeat(3_590)}`,
    ])
      await callTool(client, 'get_note', { text: `${before}${secret}${' z'.repeat(5_000)}` })
    await gateway.close()
    const text = readFileSync(file, 'utf8')
    expect(read(file)).toHaveLength(4)
    expect(text).not.toMatch(/secret|x{10}/)
    expect(read(file)[0]).toMatchObject({
      client: { name: `${'n'.repeat(190)}***` },
      arguments: { text: expect.stringMatching(/^(?:y ){495}\*\*\*… \(10010 more characters\)$/) },
    })
  })

  it('leaves out arguments that are too large, without copying them', async () => {
    let reads = 0
    const items = new Proxy(
      Array.from({ length: 300_000 }, () => 'item'),
      {
        get(target, name, self) {
          reads++
          return Reflect.get(target, name, self) as unknown
        },
      },
    )
    const call = { client: undefined, preset: '', tool: 'a/b', outcome: 'ok' as const, durationMs: 1, bytes: 1 }
    const lines: string[] = []
    const target = {
      title: '',
      canRepeat: false,
      append: async (_: string, more: readonly string[]) => void lines.push(...more),
    }
    const log = openAuditLog(target, createRedactor(createSecrets()), () => undefined)
    log.note({ ...call, arguments: { items } })
    log.note({ ...call, arguments: { few: ['item'] } })
    await log.close()
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { tool: 'a/b' },
      { arguments: { few: ['item'] } },
    ])
    expect(lines[0]).not.toContain('arguments')
    expect(reads).toBeLessThan(100_000)
  })

  it.skipIf(process.platform === 'win32')(
    'can be read by the user only, even if the file was there before',
    async () => {
      const file = join(site.folder, 'open.jsonl')
      writeFileSync(file, '', { mode: 0o644 })
      const gateway = await site.create(define({ audit: file }))
      await (await gateway.getCatalog()).call('get_note', {})
      await gateway.close()
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(read(file)).toHaveLength(1)
    },
  )

  it('is rotated when it is large', async () => {
    const file = join(site.folder, 'audit.jsonl')
    // Lines of one moment are written together, and each gateway writes the rest of its own when it closes.
    for (let round = 0; round < 4; round++) {
      const gateway = await site.create(define({ audit: { file, maxBytes: 1_000, keep: 2 } }))
      const catalog = await gateway.getCatalog()
      for (let i = 0; i < 10; i++) await catalog.call('get_note', { i })
      await gateway.close()
    }
    const names = readdirSync(site.folder).filter((name) => name.startsWith('audit'))
    expect(names.filter((name) => name !== 'audit.jsonl').sort()).toEqual(['audit.jsonl.1', 'audit.jsonl.2'])
    for (const name of names) read(join(site.folder, name))
  })

  it.skipIf(process.platform !== 'linux')('fails no call if the disk is full', async () => {
    const gateway = await site.create(define({ audit: '/dev/full' }))
    const catalog = await gateway.getCatalog()
    for (let i = 0; i < 3; i++) expect((await catalog.call('get_note', {})).isError).toBeUndefined()
    await gateway.close()
    expect(site.events.filter(({ type }) => type === 'problem')).toMatchObject([
      { message: expect.stringMatching(/^The audit log \/dev\/full cannot be written: ENOSPC/) },
      { message: '3 calls are missing from the audit log /dev/full, which could not be written.' },
    ])
  })
})
