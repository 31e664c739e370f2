import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { StdioClientTransport as FirstSdkStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { gptTokenizer } from 'foldout/gpt-tokenizer'
import { describe, expect, it } from 'vitest'
import { bySearch, converse, directly } from '../../examples/home/conversation.ts'
import { homeServer } from '../../examples/home/server.ts'
import { tableText, tokenTable } from '../../examples/home/token-table.ts'
import {
  allKinds,
  clientKinds,
  overHttp,
  getText,
  type ClientKind,
} from '../../packages/foldout/src/mcp/serve/clients.fixtures.ts'

const root = join(import.meta.dirname, '../..')
const command = { command: process.execPath, args: ['--import', 'tsx', 'examples/home-server.ts'] }

function start(...flags: readonly string[]): ChildProcessWithoutNullStreams & { readonly text: () => string } {
  const child = spawn(command.command, [...command.args, ...flags], { cwd: root })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  return Object.assign(child, { text: () => text })
}

async function run(...flags: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = start(...flags)
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  child.stdin.end()
  const [code] = (await once(child, 'close')) as [number]
  return { code, stdout: child.text(), stderr }
}

describe('the home server', { timeout: 60_000 }, () => {
  it('R47 shows how an unlisted tool is found and used, prints the measured table, and exits', async () => {
    const { code, stdout, stderr } = await run()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('A client has connected: modern era, protocol 2026-07-28.')
    expect(stdout).toContain('A client of the legacy era, protocol 2025-11-25, sees the same 6 tools.')
    const steps = ['→ get_states', '→ search_tools', '→ use_tool {"name":"control_zone_lights"', '→ get_states']
    expect(stdout.match(/^→ .*$/gm)!.map((line, i) => line.slice(0, steps[i]!.length))).toEqual(steps)
    expect(stdout).toContain('light-living-floor "Floor lamp": on, dim 0.6')
    expect(stdout).toContain('light-living-floor "Floor lamp": on, dim 0.3')
    expect(stdout).not.toContain('\u001B')

    const [everything, hybrid] = [homeServer({ everything: true }).served, homeServer().served]
    const measured = {
      everything: await converse((await everything.http()).url, directly),
      hybrid: await converse((await hybrid.http()).url, bySearch),
    }
    await Promise.all([everything.close(), hybrid.close()])
    expect(stdout).toContain(tableText(tokenTable(measured, await gptTokenizer())))
  })

  it('R47 --all lists all fourteen tools, and the model calls one directly', async () => {
    const { code, stdout } = await run('--all')
    expect(code).toBe(0)
    expect(stdout).toContain('sees the same 14 tools.')
    expect(stdout).toContain('→ control_zone_lights {"zone_id":"living-room","brightness":30}')
    expect(stdout).not.toContain('→ search_tools')
  })

  it('R47 --serve keeps serving, and the client configuration it prints works from any folder', async () => {
    const child = start('--serve')
    try {
      await expect.poll(child.text, { timeout: 40_000 }).toMatch(/"--stdio"\n[^}]*\}\n {2}\}\n\}/)
      const [overUrl, started] = child
        .text()
        .match(/^\{$[^]*?^\}$/gm)!
        .map((text) => JSON.parse(text).mcpServers.home)
      const client = await overHttp(overUrl.url, 'v2 client, modern')
      expect((await client.list()).tools).toHaveLength(6)
      await client.close()

      const pasted = await clientKinds['v1 client'](new FirstSdkStdio({ ...started, cwd: tmpdir() }))
      expect((await pasted.list()).tools).toHaveLength(6)
      await pasted.close()

      child.kill('SIGINT')
      expect(await once(child, 'close')).toEqual([0, null])
    } finally {
      child.kill('SIGKILL')
    }
  })

  it.each([
    [['--al'], "Unknown option '--al'"],
    [['--port', 'http'], "'http' is not a port."],
    [['--stdio', '--port', '80'], '--stdio has no port and always serves.'],
  ])('R47 refuses %j with its usage', async (flags, message) => {
    const { code, stdout, stderr } = await run(...flags)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).toContain('--all         list all fourteen tools')
  })

  it.each([
    ['notice', /^npm has printed a banner to standard output, which is not MCP\. Use: npm start --silent -- --stdio$/m],
    ['silent', /^$/],
  ])('R47 --stdio warns if npm, with log level %s, has printed something that is not MCP', async (loglevel, said) => {
    const env = { ...process.env, npm_lifecycle_event: 'start', npm_config_loglevel: loglevel }
    const child = spawn(command.command, [...command.args, '--stdio'], { cwd: root, env })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
    child.stdin.end()
    await once(child, 'close')
    expect(stderr).toMatch(said)
  })

  it('R47 reports a port that is in use', async () => {
    const { served } = homeServer()
    const { url } = await served.http()
    const { code, stderr } = await run('--port', new URL(url).port)
    await served.close()
    expect(code).toBe(1)
    expect(stderr).toMatch(/^The MCP server cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/)
  })

  it('R47 --help shows the flags', async () => {
    const { code, stdout } = await run('--help')
    expect(code).toBe(0)
    expect(stdout.match(/^ {2}--\w+/gm)).toEqual(['  --all', '  --port', '  --serve', '  --stdio', '  --help'])
  })
})

describe('--stdio', { timeout: 60_000 }, () => {
  const transportFor = (kind: ClientKind, flags: readonly string[]): unknown => {
    const parameters = { ...command, args: [...command.args, '--stdio', ...flags], cwd: root }
    return kind === 'v1 client' ? new FirstSdkStdio(parameters) : new StdioClientTransport(parameters)
  }

  it.each(allKinds)('R47 serves a real client from list to use, %s', async (kind) => {
    const client = await clientKinds[kind](transportFor(kind, []))
    try {
      const listing = await client.list()
      expect(listing.tools).toHaveLength(6)
      expect('ttlMs' in listing, 'which only the modern era has').toBe(kind === 'v2 client, modern')
      const found = getText(await client.call('search_tools', { query: 'turn the heating up' }))
      expect(found).toMatch(/^set_thermostat\(/)
      const args = { device_id: 'thermostat-living', target_temperature: 22 }
      expect(getText(await client.call('use_tool', { name: 'set_thermostat', arguments: args }))).toContain(
        'is now: target_temperature 22',
      )
      expect(getText(await client.call('get_states', { device_ids: ['thermostat-living'] }))).toContain(
        'target_temperature 22',
      )
    } finally {
      await client.close()
    }
  })

  it('R47 lists all fourteen tools with --all', async () => {
    const client = await clientKinds['v1 client'](transportFor('v1 client', ['--all']))
    expect((await client.list()).tools).toHaveLength(14)
    await client.close()
  })

  it('R47 writes only protocol messages, and exits when its input ends', async () => {
    const child = start('--stdio')
    const messages = [
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
      },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list' },
    ]
    for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    await expect.poll(child.text, { timeout: 40_000 }).toContain('"id":2')
    child.stdin.end()
    expect(await once(child, 'close')).toEqual([0, null])
    const answers = child
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers.map(({ jsonrpc, id }) => [jsonrpc, id])).toEqual([
      ['2.0', 1],
      ['2.0', 2],
    ])
    expect(answers[0].result.protocolVersion).toBe('2025-06-18')
    expect(answers[1].result.tools).toHaveLength(6)
  })
})
