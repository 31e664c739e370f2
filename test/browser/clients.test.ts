import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { findBarriers, type Page } from './browser.ts'
import { isWhole, open, startGateway, startInspector, useBrowser } from './harness.ts'
import { startPostgres } from '../postgres/server.ts'
import { removeFolder } from '../remove-folder.ts'

useBrowser()

const FIXTURE = join(import.meta.dirname, '../../packages/foldout-mcp/src/gateway/server.fixtures.mjs')
const HOSTILE = '<img src=x onerror="document.title=`pwned`">\u202Egnp.exe'
const SECRET = 'sk-abcdefghijklmnopqrstuvwxyz'
const folder = mkdtempSync(join(tmpdir(), 'foldout-browser-'))
const clients: Client[] = []
afterEach(async () => {
  await Promise.allSettled(clients.splice(0).map((client) => client.close()))
})
afterAll(() => removeFolder(folder))

const ORDER = { type: 'object', properties: { order: { type: 'string' } } }
const TOOLS = [
  { name: 'refund_order', description: 'Gives a customer the money back.', inputSchema: ORDER },
  { name: 'find_order', description: 'Finds an order of a customer.', inputSchema: ORDER },
]

function writeConfig(name: string, more: object = {}): readonly string[] {
  const file = join(folder, `${name}.json`)
  const shop = { command: process.execPath, args: [FIXTURE, JSON.stringify({ tools: TOOLS })] }
  const rules = [{ action: 'ask', tool: 'shop/refund_*', reason: 'Money leaves the house.' }]
  writeFileSync(file, JSON.stringify({ mcpServers: { shop }, expose: 'hybrid', rules, ...more }))
  return ['--config', file, '--cache', join(folder, 'cache')]
}

async function connect(gateway: string, name: string): Promise<Client> {
  const client = new Client({ name, version: '1' })
  clients.push(client)
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway)))
  await client.listTools()
  return client
}

async function use(client: Client, name: string, args: object): Promise<string> {
  const { content } = await client.callTool({ name: 'use_tool', arguments: { name, arguments: args } })
  return JSON.stringify(content)
}

const findStep = (page: Page, text: string | RegExp) => page.locator('.step-title').filter({ hasText: text })

/** A client asks for something that a person has to approve, the person approves it on the page, and the client asks again. */
async function approveOnThePage(...args: readonly string[]): Promise<string> {
  const { url, gateway } = await startGateway(...args)
  const page = await open(`${url}#/runs`)
  await page.getByText('No runs yet').waitFor()
  const client = await connect(gateway, 'claude-code')
  expect(await use(client, 'refund_order', { order: 'A-1' })).toContain('the user has to approve it')
  expect(await use(client, 'refund_order', { order: 'A-2' })).toContain('the user has to approve it')
  await findStep(page, 'shop/refund_order through use_tool was not approved').first().waitFor()
  // It is seen wherever one looks.
  await page.getByRole('link', { name: /^Catalog 2 calls wait for your approval/ }).click()
  await page.getByRole('tab', { name: /^Approvals 2/ }).click()
  const waiting = page.locator('.approval')
  await waiting.filter({ hasText: '"A-1"' }).getByRole('button', { name: 'Approve once' }).click()
  await waiting.nth(1).waitFor({ state: 'detached' })
  await waiting.filter({ hasText: '"A-2"' }).getByRole('button', { name: 'Deny' }).click()
  await page.getByText('No calls are waiting for you').waitFor()
  expect(await use(client, 'refund_order', { order: 'A-2' })).toContain('the user did not approve it')
  expect(await use(client, 'refund_order', { order: 'A-1' })).toContain('A-1')
  expect(await use(client, 'refund_order', { order: 'A-1' })).toContain('the user has to approve it')
  await page.getByRole('link', { name: /^Runs/ }).click()
  await findStep(page, 'shop/refund_order through use_tool was approved and answered').waitFor()
  return page.locator('.figures').innerText()
}

const FIGURES = /Calls\s+5[^]*Held back\s+4/

describe('R59 clients of a gateway in a browser', () => {
  it('are followed live: lists, searches, calls with their inner tools, sizes and failures', async () => {
    const { url, gateway } = await startGateway(...writeConfig('live'))
    const page = await open(`${url}#/runs`)
    const other = await open(`${url}#/runs`, { width: 400 })
    const client = await connect(gateway, 'claude-code')
    await findStep(page, 'Listed 3 tools as hybrid').waitFor()
    await client.callTool({ name: 'search_tools', arguments: { query: `an order ${SECRET}` } })
    await use(client, 'find_order', { order: 'A-7', api_key: 'key-of-the-shop' })
    await use(client, 'there_is_none', {})
    await findStep(page, 'Searched for “an order ***”').waitFor()
    await findStep(page, 'shop/find_order through use_tool answered').waitFor()
    await findStep(page, 'Called use_tool, which failed').waitFor()
    const steps = await page.locator('.step').allInnerTexts()
    expect(steps.find((text) => text.includes('find_order through'))).toMatch(
      /\{"order":"A-7","api_key":"\*\*\*"\}\s+\d+\s+tokens\s+\d+ B\s+\d+ ms/,
    )
    expect(await page.locator('main').innerText()).not.toMatch(/sk-abc|key-of-the-shop/)
    expect(await page.locator('.figures').innerText()).toMatch(/Tokens listed\s+\d+ of \d+[^]*Searches\s+1/)
    await page.locator('.plot canvas').waitFor()
    // The other page follows, too, and a page that is loaded again has missed nothing.
    await findStep(other, 'Called use_tool, which failed').waitFor()
    await page.reload()
    await findStep(page, 'Called use_tool, which failed').waitFor()
    await use(client, 'find_order', { order: 'A-8' })
    await page.getByText('{"order":"A-8"}').waitFor()
    await other.getByText('{"order":"A-8"}').waitFor()
    // A second client has a timeline of its own.
    await connect(gateway, 'cursor')
    await page.getByRole('link', { name: /^cursor/ }).click()
    await page.getByRole('heading', { name: 'cursor' }).waitFor()
    await findStep(page, 'Searched').waitFor({ state: 'detached' })
  })

  it('have their calls approved and denied on the page', async () => {
    expect(await approveOnThePage(...writeConfig('asking'))).toMatch(FIGURES)
  })

  it.runIf(isWhole)(
    'have their calls approved with what gateways share in a database',
    async () => {
      const postgres = await startPostgres()
      try {
        const store = await postgres.createDatabase('approvals')
        expect(await approveOnThePage(...writeConfig('shared'), '--store', store)).toMatch(FIGURES)
      } finally {
        await postgres.stop()
      }
    },
    120_000,
  )

  it('R60 are shown as text, whatever they send', async () => {
    const { url, gateway } = await startGateway(...writeConfig('hostile'))
    const client = await connect(gateway, HOSTILE)
    await use(client, 'find_order', { order: HOSTILE, [HOSTILE]: 'x'.repeat(100_000) })
    await use(client, HOSTILE, {})
    const nest = (levels: number): unknown => (levels === 0 ? [] : [nest(levels - 1)])
    await use(client, 'find_order', { order: 'deep', more: nest(450) })
    await expect(use(client, 'find_order', { order: 'deeper', more: nest(3_000) })).rejects.toThrow('nested deeper')
    await client.callTool({ name: 'search_tools', arguments: { query: HOSTILE.repeat(50) } })
    const page = await open(`${url}#/runs`, { width: 400 })
    await findStep(page, 'Searched').waitFor()
    await page.locator('.step').filter({ hasText: 'Called use_tool' }).click()
    await page.locator('.step-more').waitFor()
    expect(await page.evaluate('document.querySelectorAll("main img").length')).toBe(0)
    expect(await page.evaluate('document.body.textContent.includes("\\u202E")')).toBe(false)
    expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
    expect(await page.title()).not.toContain('pwned')
  })

  it('R60 can be read with the keyboard alone, step by step', async () => {
    const { url, gateway } = await startGateway(...writeConfig('keyboard'))
    const client = await connect(gateway, 'claude-code')
    for (let i = 0; i < 60; i++) await use(client, 'find_order', { order: `A-${i}` })
    const page = await open(`${url}#/runs`)
    await findStep(page, 'Connected').waitFor()
    const isAt = (text: string): Promise<void> => page.locator('.step:focus').filter({ hasText: text }).waitFor()
    for (let i = 0; i < 20 && !(await page.evaluate<boolean>('document.activeElement.matches(".step")')); i++)
      await page.keyboard.press('Tab')
    await isAt('Connected')
    await page.keyboard.press('End')
    await isAt('A-59')
    await page.keyboard.press('ArrowUp')
    await isAt('A-58')
    await page.keyboard.press('Enter')
    await page.locator('.step-more').filter({ hasText: '{"order":"A-58"}' }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('.step-more').waitFor({ state: 'detached' })
    // A reader at the end stays there while more comes.
    await page.keyboard.press('End')
    await isAt('A-59')
    await use(client, 'find_order', { order: 'the-last-one' })
    await page.getByText('{"order":"the-last-one"}').waitFor()
    expect(await page.evaluate('document.activeElement.matches(".step")')).toBe(true)
  })

  it.each([
    ['light', 1280],
    ['dark', 400],
  ] as const)('R60 axe finds nothing, and nothing is wider than the page: %s, %i px', async (colorScheme, width) => {
    const { url, gateway } = await startGateway(...writeConfig('axe'))
    const client = await connect(gateway, 'claude-code')
    await use(client, 'find_order', { order: 'A-7' })
    await use(client, 'refund_order', { order: 'A-7' })
    const page = await open(`${url}#/runs`, { colorScheme, width })
    const step = page.locator('.step').filter({ hasText: 'find_order' })
    await step.click()
    await page.locator('.step-more').waitFor()
    await page.locator('.count.waiting').waitFor()
    expect(await findBarriers(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  })

  it('are shown from recorded traffic, with lines that are not traffic counted, and followed while it grows', async () => {
    const file = join(folder, 'traffic.jsonl')
    const common = { run: 'a', at: '2026-11-17T12:00:00.000Z', preset: '', client: 'client-1' }
    const lines = [
      { type: 'start', version: 1, run: 'a', at: common.at, foldout: '1' },
      // As it was written before names and answers were recorded.
      { type: 'list', ...common, exposure: 'hybrid', tools: 2, tokens: 180 },
      { type: 'search', ...common, query: 'orders', isRedacted: false, hits: ['shop/find_order'], tokens: 40 },
      { type: 'list', ...common, at: 'never', tools: -1 },
    ]
    writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join('\n')}\nnot a line\n`)
    const { url } = await startInspector('inspect', file)
    const page = await open(url)
    await findStep(page, 'Searched for “orders”').waitFor()
    await page.getByText('2 lines of the recording could not be read.').waitFor()
    appendFileSync(file, `${JSON.stringify({ type: 'client', ...common, client: 'client-2', name: 'cursor' })}\n`)
    await page.getByRole('link', { name: /^cursor/ }).waitFor()
    expect(await page.locator('.run-list a').count()).toBe(2)
  })
})
