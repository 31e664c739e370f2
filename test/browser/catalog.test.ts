import { writeFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCatalog, type Catalog, type RawTool } from 'foldout/catalog'
import { afterAll, describe, expect, it } from 'vitest'
import type { WaitingCalls } from '../../packages/foldout-mcp/src/gateway/gateway.ts'
import { createApprovalSource } from '../../packages/foldout-mcp/src/inspector/catalog/approvals.ts'
import { createCatalogSource, type CatalogSource } from '../../packages/foldout-mcp/src/inspector/catalog/source.ts'
import { createInspector, type Inspector } from '../../packages/foldout-mcp/src/inspector/inspector.ts'
import { findBarriers } from './browser.ts'
import { isWhole, open, startInspector, takeProblems, useBrowser } from './harness.ts'
import { removeFolder } from '../remove-folder.ts'

useBrowser()

const FIXTURE = join(import.meta.dirname, '../../packages/foldout-mcp/src/gateway/server.fixtures.mjs')
const HOSTILE = '<img src=x onerror="document.title=`pwned`">"><svg onload=alert(1)>'
const folder = mkdtempSync(join(tmpdir(), 'foldout-browser-'))
const inspectors: Inspector[] = []
afterAll(async () => {
  await Promise.all(inspectors.map((inspector) => inspector.close()))
  await removeFolder(folder)
})

async function inspectCatalog(catalog: Catalog): Promise<{ readonly url: string; readonly source: CatalogSource }> {
  const names = [...new Set(catalog.tools.map(({ source = '' }) => source))]
  const source = createCatalogSource({
    servers: names.map((name) => ({ name, state: { type: 'stopped' }, tools: undefined })),
    ownTools: [],
    ownInstructions: '',
    getCatalog: async () => catalog,
  })
  const waiting: WaitingCalls = { list: async () => [], approve: refuse, deny: refuse }
  const inspector = await createInspector([source, createApprovalSource(waiting)], { title: 'tools' })
  inspectors.push(inspector)
  return { url: inspector.url, source }
}

async function refuse(): Promise<never> {
  throw new Error('Nothing waits here.')
}

const answer = (text: string) => async () => ({ content: [{ type: 'text', text }] })
const addNumbers: RawTool = {
  name: 'add_numbers',
  source: 'math',
  description: 'Adds two numbers.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  call: async ({ a, b }) => ({ content: [{ type: 'text', text: `${Number(a) + Number(b)}` }] }),
}
const sendMail: RawTool = {
  name: 'send_mail',
  source: 'mail',
  description: 'Sends a message to a person.',
  call: answer('Sent.'),
}

describe('R59 the catalog view in a browser', () => {
  it('shows the servers of a configuration, and why one of them failed', async () => {
    const config = join(folder, 'servers.json')
    const broken = { command: process.execPath, args: ['-e', 'console.error("no such database"); process.exit(3)'] }
    const tools = [{ name: 'refund_order', description: 'Refunds an order.', inputSchema: { type: 'object' } }]
    const shop = { command: process.execPath, args: [FIXTURE, JSON.stringify({ tools })] }
    const mcpServers = { shop, broken }
    writeFileSync(config, JSON.stringify({ mcpServers }))
    const { url } = await startInspector('inspect', '--config', config, '--cache', join(folder, 'cache'), '--quiet')
    const page = await open(url)
    await page.getByRole('tab', { name: /^Servers/ }).click()
    await page.getByText('no such database').waitFor()
    await page.locator('.row-button').first().waitFor()
    expect(await page.locator('.row-button').allInnerTexts()).toEqual([expect.stringContaining('refund_order')])
  })

  it('searches while the user types, explains scores, and calls a tool through a form', async () => {
    const { url } = await inspectCatalog(createCatalog([addNumbers, sendMail]))
    const page = await open(url)
    await page.getByRole('searchbox').fill('write to a person')
    await page.locator('.hits').getByText('send_mail').waitFor()
    expect(await page.locator('.reasons').first().innerText()).toMatch(/person in description\s+\+\d/)
    await page.getByRole('searchbox').fill('')
    await page.getByRole('button', { name: /^add_numbers/ }).click()
    await page.getByLabel(/^a number/).fill('19')
    await page.getByLabel(/^b number/).fill('23')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.locator('.result .code').filter({ hasText: /^42$/ }).waitFor()
    await page.getByLabel(/^b number/).fill('many')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByText('b must be a number.').waitFor()
    await page.getByRole('tab', { name: 'Exposures' }).click()
    await page.getByRole('rowheader', { name: /^hybrid/ }).waitFor()
  })

  it('makes a form of what servers declare, with an object of JSON for the rest', async () => {
    const schema = {
      type: 'object',
      properties: {
        unit: { enum: ['lines', 'items'] },
        note: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
        count: { type: ['integer', 'null'], default: 20 },
        isExact: { type: 'boolean' },
        filter: { type: 'object' },
      },
      required: ['unit'],
    }
    const echo: RawTool = {
      ...addNumbers,
      name: 'echo',
      inputSchema: schema,
      call: async (args) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
    }
    const { url } = await inspectCatalog(createCatalog([echo]))
    const page = await open(url)
    await page.getByRole('button', { name: /^echo/ }).click()
    await page.getByLabel(/^unit text, required/).selectOption('items')
    await page.getByLabel(/^note text/).fill('as "it" is')
    expect(await page.getByLabel(/^count number/).getAttribute('placeholder')).toBe('usually 20')
    await page.getByLabel(/^isExact true or false/).selectOption('false')
    await page.getByLabel(/^filter JSON/).fill('{"a": [1]}')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    const result = page.locator('.result .code')
    await result
      .filter({ hasText: '{"unit":"items","note":"as \\"it\\" is","isExact":false,"filter":{"a":[1]}}' })
      .waitFor()
    await page.getByRole('button', { name: 'As JSON' }).click()
    await page.getByLabel('Arguments as JSON').fill('{"unit": "lines", "note": ""}')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await result.filter({ hasText: '{"unit":"lines","note":""}' }).waitFor()
    await page.getByLabel('Arguments as JSON').fill('[]')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.getByText('The arguments must be a JSON object').waitFor()
    expect(await findBarriers(page)).toEqual([])
  })

  it('leads from the map of tokens to a tool', async () => {
    const { url } = await inspectCatalog(createCatalog([addNumbers, sendMail]))
    const page = await open(url)
    await page.locator('.area').filter({ hasText: 'math: add_numbers' }).click()
    await page.getByRole('heading', { name: 'add_numbers' }).waitFor()
    expect(await page.locator('[role=tab][aria-selected=true]').innerText()).toBe('Tool')
  })

  it('shows calls that wait for the user, and approves or denies exactly the one that is shown', async () => {
    const config = join(folder, 'asking.json')
    const tools = [{ name: 'refund_order', inputSchema: { type: 'object', properties: { order: { type: 'string' } } } }]
    const shop = { command: process.execPath, args: [FIXTURE, JSON.stringify({ tools })] }
    const rules = [{ action: 'ask', tool: 'shop/refund_*', reason: 'Money leaves the house.' }]
    writeFileSync(config, JSON.stringify({ mcpServers: { shop }, rules }))
    const { url } = await startInspector('inspect', '--config', config, '--cache', join(folder, 'cache'), '--quiet')
    const page = await open(url)
    const callWith = async (order: string): Promise<void> => {
      await page.getByRole('tab', { name: 'Tool', exact: true }).click()
      await page.getByLabel(/^order/).fill(order)
      await page.getByRole('button', { name: 'Call', exact: true }).click()
    }
    await page.getByRole('tab', { name: 'Approvals' }).click()
    await page.getByText('No calls are waiting for you').waitFor()
    await page.getByRole('button', { name: /^refund_order/ }).click()
    await callWith('A-1')
    await page.getByText('the user has to approve it').waitFor()
    await callWith('A-2')
    await page.getByRole('tab', { name: /^Approvals 2/ }).click()
    const waiting = page.locator('.approval')
    expect(await waiting.allInnerTexts()).toEqual([
      expect.stringMatching(/shop\/refund_order[^]*\d:\d\d left[^]*Money leaves the house\.[^]*"order": "A-1"/),
      expect.stringContaining('"order": "A-2"'),
    ])
    expect(await findBarriers(page)).toEqual([])
    await waiting.first().getByRole('button', { name: 'Approve once' }).click()
    await waiting.nth(1).waitFor({ state: 'detached' })
    await waiting.first().getByRole('button', { name: 'Deny' }).click()
    await page.getByText('No calls are waiting for you').waitFor()
    await callWith('A-2')
    await page.getByText('the user did not approve it').waitFor()
    await callWith('A-1')
    await page.locator('.result .code').filter({ hasText: '{"args":{"order":"A-1"}' }).waitFor()
    await callWith('A-1')
    await page.getByText('the user has to approve it').waitFor()
  })

  it('follows changes to the catalog', async () => {
    const catalog = createCatalog([addNumbers])
    const { url, source } = await inspectCatalog(catalog)
    const page = await open(url)
    await page.getByRole('button', { name: /^add_numbers/ }).waitFor()
    catalog.add([sendMail])
    source.notify()
    await page.getByRole('button', { name: /^send_mail/ }).waitFor()
    expect(await page.locator('.row-button').count()).toBe(2)
  })

  it('R60 shows hostile names, descriptions, results and errors as text', async () => {
    const hostile: RawTool = {
      name: 'look',
      source: HOSTILE,
      description: HOSTILE,
      title: HOSTILE,
      call: answer(HOSTILE),
    }
    const bad: RawTool = { ...hostile, description: 'The same again.' }
    const { url } = await inspectCatalog(createCatalog([hostile, bad]))
    const page = await open(url)
    await page.getByRole('button', { name: /^look/ }).click()
    expect(await page.locator('.tool-text').innerText()).toBe(HOSTILE)
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.locator('.result .code').filter({ hasText: HOSTILE }).waitFor()
    await page.getByRole('tab', { name: /^Servers/ }).click()
    await page.getByText('Tools that cannot be used').waitFor()
    expect(await page.evaluate('document.querySelectorAll("main img, main svg:not([role])").length')).toBe(0)
    expect(await page.title()).not.toContain('pwned')
  })

  it('R60 shows a catalog with schemas and arguments that are nested very deep, and results that are very long', async () => {
    const deep = JSON.parse(`${'{"properties":{"a":'.repeat(20_000)}{}${'}}'.repeat(20_000)}`) as object
    const tools: readonly RawTool[] = [
      { ...addNumbers, name: 'deep', inputSchema: { type: 'object', ...deep } },
      { ...addNumbers, name: 'long', inputSchema: { type: 'object' }, call: answer('x'.repeat(5_000_000)) },
      sendMail,
    ]
    const { url } = await inspectCatalog(createCatalog(tools))
    const page = await open(url, { width: 400 })
    await page.getByRole('button', { name: /^long/ }).click()
    await page.getByRole('button', { name: 'As JSON' }).click()
    await page.getByLabel('Arguments as JSON').fill(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page.locator('.result > :first-child').waitFor()
    await page.getByLabel('Arguments as JSON').fill('{}')
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    await page
      .locator('.result .code')
      .filter({ hasText: /4,900,000 more characters/ })
      .waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
    takeProblems(page)
  })

  it('R60 shows names that turn or hide text as what they are', async () => {
    const server = '\u202Egnp.exe\u202C'
    const description = 'Reads\u200B a file.\u{E0041}\u{E0042} Family: 👨‍👩‍👧'
    const shop: RawTool = { ...sendMail, name: 'look', source: 'shop', description, call: answer(description) }
    const source = createCatalogSource({
      servers: [
        { name: server, state: { type: 'failed', reason: 'x'.repeat(1_000_000), retryAt: 0 }, tools: undefined },
      ],
      ownTools: [],
      ownInstructions: '',
      getCatalog: async () => createCatalog([shop]),
    })
    const waiting: WaitingCalls = { list: async () => [], approve: refuse, deny: refuse }
    const inspector = await createInspector([source, createApprovalSource(waiting)], {
      title: `${server}${'t'.repeat(1_000_000)}`,
    })
    inspectors.push(inspector)
    const page = await open(inspector.url, { width: 400 })
    await page.getByRole('tab', { name: /^Servers/ }).click()
    await page.locator('tbody').getByText('<U+202E>gnp.exe<U+202C>').first().waitFor()
    await page.getByRole('button', { name: /^look/ }).click()
    await page.getByRole('button', { name: 'Call', exact: true }).click()
    const result = page.locator('.result .code')
    await result.waitFor()
    expect(await result.innerText()).toBe('ReadsU+200B a file.U+E0041U+E0042 Family: 👨‍👩‍👧')
    expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  })

  it('R60 works with the keyboard alone, even through a long list', async () => {
    const tools = Array.from({ length: 500 }, (_, i): RawTool => ({ ...addNumbers, name: `tool_${1_000 + i}` }))
    const { url } = await inspectCatalog(createCatalog(tools))
    const page = await open(url)
    const isAt = (name: string): Promise<unknown> =>
      page.locator('.row-button:focus').filter({ hasText: name }).waitFor()
    await page.getByRole('button', { name: /^tool_1000/ }).waitFor()
    await page.getByRole('searchbox').focus()
    await page.keyboard.press('Tab')
    await isAt('tool_1000')
    await page.keyboard.press('ArrowDown')
    await isAt('tool_1001')
    await page.keyboard.press('End')
    await isAt('tool_1499')
    await page.keyboard.press('ArrowUp')
    await isAt('tool_1498')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'tool_1498' }).waitFor()
    // One more Tab leaves the list.
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('Tool')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.id')).toBe('argument-a')
    await page.keyboard.type('19')
    await page.keyboard.press('Tab')
    await page.keyboard.type('23')
    await page.keyboard.press('Enter')
    await page.locator('.result .code').filter({ hasText: /^42$/ }).waitFor()
  })

  it.runIf(isWhole).each([
    ['light', 1280],
    ['dark', 400],
  ] as const)('R60 axe finds nothing: %s, %i px', async (colorScheme, width) => {
    const { url } = await inspectCatalog(createCatalog([addNumbers, sendMail]))
    const page = await open(url, { colorScheme, width })
    await page.getByRole('button', { name: /^add_numbers/ }).click()
    for (const tab of [/^Tool$/, /^Where/, /^Exposures/, /^Servers/, /^Approvals/]) {
      await page.getByRole('tab', { name: tab }).click()
      await page.locator('[role=tabpanel] > *').first().waitFor()
      expect(await findBarriers(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
    }
    await page.getByRole('searchbox').fill('person')
    await page.locator('.hits').waitFor()
    expect(await findBarriers(page)).toEqual([])
  })

  it.runIf(isWhole)('stays responsive with 10,000 tools', async () => {
    const tools = Array.from({ length: 10_000 }, (_, i): RawTool => ({
      ...addNumbers,
      name: `tool_${String(i).padStart(5, '0')}`,
      source: `server_${i % 40}`,
      description: `Does the thing number ${i} to a ${['file', 'row', 'lamp', 'mail'][i % 4]}.`,
    }))
    const { url } = await inspectCatalog(createCatalog(tools))
    const page = await open(url)
    await page.getByRole('button', { name: /^tool_00000/ }).waitFor({ timeout: 30_000 })
    expect(await page.locator('.row-button').count()).toBeLessThan(60)
    expect(await page.locator('.area').count()).toBeLessThan(500)
    await page.evaluate('document.querySelector(".rows").scrollTo(0, 1e9)')
    await page.getByRole('button', { name: /^tool_09999/ }).waitFor()
    await page.getByRole('searchbox').fill('tool_01234')
    await page.locator('.hits').getByText('tool_01234').waitFor({ timeout: 30_000 })
  })
})
