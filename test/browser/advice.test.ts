import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { runAgent } from 'foldout'
import { recordRun } from 'foldout/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPaidModel } from '../../examples/inspector/paid-model.ts'
import { travelDesk } from '../../examples/inspector/travel-desk.ts'
import { createGateway } from '../../packages/foldout-mcp/src/gateway/gateway.ts'
import { recordTraffic } from '../../packages/foldout-mcp/src/gateway/traffic/record.ts'
import { createRedactor } from '../../packages/foldout-mcp/src/gateway/policy/secrets/redact.ts'
import { findBarriers } from './browser.ts'
import { EXAMPLES, open, startInspector, useBrowser } from './harness.ts'
import { removeFolder } from '../remove-folder.ts'

useBrowser()

const folder = mkdtempSync(join(tmpdir(), 'foldout-browser-'))
const FILE = join(folder, 'runs.jsonl')
const FIXTURE = join(import.meta.dirname, '../../packages/foldout-mcp/src/gateway/server.fixtures.mjs')
const DESK = join(EXAMPLES, 'inspector/travel-desk.ts')
afterAll(() => removeFolder(folder))

async function run(): Promise<void> {
  const adapter = createPaidModel([
    { calls: [['read_section', { section_key: 'changes' }]] },
    { calls: [['rebook_flight', { booking: 'QX4T2', flight: 'TP763', date: '2026-12-05' }]] },
    { says: 'Moved.' },
  ])
  const recorder = recordRun({ to: FILE })
  await runAgent(travelDesk, { adapter, input: 'Can I fly a day later?', onEvent: recorder.onEvent })
  await recorder.saved()
}
beforeAll(async () => {
  for (let i = 0; i < 2; i++) await run()
})

/** What clients did with a catalog, as `foldout serve --record` writes it. */
async function writeTraffic(): Promise<string> {
  const file = join(folder, 'traffic.jsonl')
  const tools = Array.from({ length: 40 }, (_, i) => ({ name: `tool_${i}`, description: `Does the thing ${i}.` }))
  const gateway = await createGateway(
    {
      mcpServers: { shop: { command: process.execPath, args: [FIXTURE, JSON.stringify({ tools })] } },
      expose: 'hybrid',
    },
    { cache: join(folder, 'cache'), data: join(folder, 'data'), onTraffic: (traffic) => recorder.onTraffic(traffic) },
  )
  const recorder = await recordTraffic(file, {
    redactor: createRedactor({ hide: (text) => text }),
    version: '1',
    onProblem: () => undefined,
  })
  await gateway.ready()
  const { url } = await gateway.http()
  for (const name of ['one', 'two', 'three', 'four']) {
    const client = new Client({ name, version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    await client.listTools()
    for (const tool of [3, 7, 3]) {
      await client.callTool({ name: 'search_tools', arguments: { query: `thing ${tool}` } })
      await client.callTool({ name: 'use_tool', arguments: { name: `tool_${tool}`, arguments: {} } })
    }
    await client.close()
  }
  await gateway.close()
  await recorder.close()
  return file
}

describe('R59 the advice view in a browser', () => {
  it('says which tools of a catalog are worth listing, from recorded traffic', async () => {
    const { url } = await startInspector('inspect', await writeTraffic())
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 400],
    ] as const) {
      const page = await open(`${url}#/advice`, { colorScheme, width })
      await page.getByText(/^Learned from 12 uses by 4 clients/).waitFor()
      expect(await page.locator('.core-tools').innerText()).toMatch(/shop\/tool_3/)
      expect(await page.locator('.advice').innerText()).toMatch(/Before\s+[\d,]+\s+After\s+[\d,]+/)
      expect(await findBarriers(page)).toEqual([])
    }
  })

  it('needs three runs, then says what to change, with the context before and after', async () => {
    const { url } = await startInspector('inspect', FILE, '--prompt', DESK)
    const page = await open(`${url}#/advice`)
    await page.getByText('2 runs of this prompt recorded. Advice needs at least 3.').waitFor()
    await run()
    const items = page.locator('.advice-item')
    await items.first().waitFor()
    const texts = await items.allInnerTexts()
    expect(texts.join('\n')).toMatch(
      /^Show all[^]*40 conversations an hour[^]*Used in\s+3 of 3 runs[^]*Before\s+[\d,]+\s+After\s+[\d,]+/,
    )
  })

  it('is hidden without a prompt', async () => {
    const { url } = await startInspector('inspect', FILE)
    const page = await open(`${url}#/advice`)
    // Without a prompt, this view does not exist, and the first one is shown.
    await page.getByRole('tab', { name: /^Timeline/ }).waitFor()
    expect(await page.getByRole('link', { name: 'Advice' }).count()).toBe(0)
  })

  it.each([
    ['light', 1280],
    ['dark', 400],
  ] as const)('R60 axe finds nothing, and nothing is wider than the page: %s, %i px', async (colorScheme, width) => {
    const { url } = await startInspector('inspect', FILE, '--prompt', DESK)
    const page = await open(`${url}#/advice`, { colorScheme, width })
    await page.locator('.advice-item').first().waitFor()
    expect(await findBarriers(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  })
})
