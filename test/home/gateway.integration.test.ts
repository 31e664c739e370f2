import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { overHttp } from '../../packages/foldout/src/mcp/serve/clients.fixtures.ts'

const root = join(import.meta.dirname, '../..')

function start(...flags: readonly string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', 'examples/gateway.ts', ...flags], { cwd: root })
  const written = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (written.stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (written.stderr += chunk))
  return { child, written }
}

describe('npm start', { timeout: 90_000 }, () => {
  it('R58 serves two servers, lets a client find and use hidden tools of both, and prints what that saves', async () => {
    const { child, written } = start()
    expect(await once(child, 'close')).toEqual([0, null])
    expect(written.stderr).toBe('')
    const { stdout } = written
    expect(stdout).toMatch(/^The gateway serves|━━ The gateway serves at http:\/\/127\.0\.0\.1:\d+\/mcp ━━/m)
    expect(stdout).toMatch(/^home +14 tools, running$/m)
    expect(stdout).toMatch(/^memory +9 tools, running$/m)
    expect(stdout.match(/^→ \w+/gm)).toEqual(['→ search_tools', '→ use_tool', '→ search_tools', '→ use_tool'])
    const [, before = 0, after = 0] =
      /^tools\/list +([\d,]+) +([\d,]+) +\d+ %$/m.exec(stdout)?.map((text) => Number(text.replace(',', ''))) ?? []
    expect(after).toBeGreaterThan(100)
    expect(before).toBeGreaterThan(5 * after)
    expect(stdout).not.toContain('\u001B')
  })

  it('R58 --serve keeps serving, and prints how to connect', async () => {
    const { child, written } = start('--serve')
    try {
      await expect.poll(() => written.stdout, { timeout: 60_000 }).toMatch(/"foldout-mcp"[^]*\n\}\n$/)
      const [overUrl] = written.stdout.match(/^\{$[^]*?^\}$/gm) ?? []
      const { mcpServers } = JSON.parse(overUrl ?? '') as { mcpServers: { foldout: { url: string } } }
      const client = await overHttp(mcpServers.foldout.url, 'v2 client, modern')
      const { tools } = await client.list()
      expect(tools.map(({ name }) => name)).toEqual(['read_result', 'search_tools', 'use_tool'])
      await client.close()
      child.kill('SIGINT')
      expect(await once(child, 'close')).toEqual([0, null])
    } finally {
      child.kill('SIGKILL')
    }
  })

  it.each([
    [['--al'], "Unknown option '--al'"],
    [['--port', 'http'], "'http' is not a port."],
  ])('R58 refuses %j with its usage', async (flags, message) => {
    const { child, written } = start(...flags)
    expect(await once(child, 'close')).toEqual([2, null])
    expect(written.stdout).toBe('')
    expect(written.stderr).toContain(message)
    expect(written.stderr).toContain('--serve')
  })
})
