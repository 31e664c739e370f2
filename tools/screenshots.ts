// Makes the pictures of the inspector in docs/: `npm run more -- screenshots`. They show the examples, in a real browser.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { runAgent } from 'foldout'
import { recordRun } from 'foldout/node'
import { createPaidModel } from '../examples/inspector/paid-model.ts'
import { travelDesk } from '../examples/inspector/travel-desk.ts'
import { runCommand } from '../packages/foldout-mcp/src/cli/main.ts'
import { launchBrowser, type Browser, type Page } from '../test/browser/browser.ts'
import { installServers } from '../test/mcp-servers/harness.ts'
import { removeFolder } from '../test/remove-folder.ts'

const repository = fileURLToPath(new URL('..', import.meta.url))
const docs = join(repository, 'docs/pictures')
const folder = mkdtempSync(join(tmpdir(), 'foldout-pictures-'))
const runs = join(folder, 'runs.jsonl')

const read = (key: string) => ({ calls: [['read_section', { section_key: key }]] as const })
const CONVERSATIONS = [
  {
    input: 'My bag did not come with me from Lisbon. What now?',
    script: [
      read('claims'),
      { calls: [['file_claim', { booking: 'QX4T2', reason: 'baggage', text: 'Not on the belt.' }]] as const },
      { says: 'The claim is filed as C-5531.' },
    ],
  },
  {
    input: 'Do I need a visa for two weeks in Japan?',
    script: [
      read('visas'),
      { calls: [['check_visa', { nationality: 'Norwegian', destination: 'Japan', days: 14 }]] as const },
      { says: 'No, not up to 90 days.' },
    ],
  },
  {
    input: 'I am on QX4T2 to Lisbon on 4 December. Can I fly a day later, and stay in a hotel near the office?',
    script: [
      { calls: [['find_booking', { booking: 'QX4T2' }]] as const },
      read('changes'),
      read('changes.fares'),
      { calls: [['rebook_flight', { booking: 'QX4T2', flight: 'TP763', date: '2026-12-05' }]] as const },
      read('policy'),
      { calls: [['find_hotel', { place: 'Lisbon office', from: '2026-12-05', nights: 3 }]] as const },
      { says: 'QX4T2 is moved to TP763 on 5 December, at no cost. Sete is 400 m from the office, 96 EUR a night.' },
    ],
  },
] as const

async function record(): Promise<void> {
  for (const { input, script } of CONVERSATIONS) {
    const recorder = recordRun({ to: runs })
    await runAgent(travelDesk, { adapter: createPaidModel(script), input, onEvent: recorder.onEvent })
    await recorder.saved()
  }
}

function writeConfig(more: object = {}): string {
  installServers()
  const servers = join(repository, 'test/mcp-servers/node_modules/@modelcontextprotocol')
  const start = (name: string, ...args: readonly string[]) => ({
    command: process.execPath,
    args: [join(servers, `server-${name}/dist/index.js`), ...args],
  })
  const mcpServers = {
    everything: start('everything'),
    filesystem: start('filesystem', folder),
    memory: start('memory'),
    'sequential-thinking': start('sequential-thinking'),
  }
  const file = join(folder, 'mcp.json')
  writeFileSync(file, JSON.stringify({ mcpServers, ...more }))
  return file
}

/** Runs `foldout serve --inspect` until the work with its page and its clients is done. */
async function withGateway(config: string, work: (url: string, gateway: string) => Promise<void>): Promise<void> {
  const bin = join(repository, 'packages/foldout-mcp/bin/foldout.js')
  const args = [bin, 'serve', '--http', '0', '--inspect', '--config', config, '--cache', join(folder, 'cache')]
  const env = { ...process.env, XDG_DATA_HOME: join(folder, 'data') }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  const serving = createDeferred()
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
    if (/^Serving /m.test(printed)) serving.resolve(printed)
  })
  void ended.then(() => serving.reject(new Error(printed)))
  try {
    const [url = '', gateway = ''] = (await serving.promise).match(/http:\/\/\S+/g) ?? []
    await work(url, gateway)
  } finally {
    child.kill()
    await ended
  }
}

/** What a coding agent does with a gateway: it searches, calls, reads a large result in parts, and needs an approval. */
async function useGateway(gateway: string): Promise<void> {
  const log = join(folder, 'build.log')
  writeFileSync(log, 'warning: unused variable in line 12\n'.repeat(2_000))
  const client = new Client({ name: 'claude-code', version: '2.1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway)))
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args })
  const use = (name: string, args: object) => call('use_tool', { name, arguments: args })
  await client.listTools()
  await call('search_tools', { query: 'find text in files' })
  const read = await use('read_text_file', { path: log })
  const { _meta: meta } = read
  const [folded] = (meta?.['foldout/folded'] ?? []) as readonly { readonly handle: string }[]
  await call('read_result', { result: folded?.handle, grep: 'line 12', count: 3 })
  await use('read_text_file', { path: '/etc/hostname' })
  await use('search_nodes', { query: 'build' })
  await use('write_file', { path: join(folder, 'notes.md'), content: 'Two thousand warnings.' })
  await client.close()
}

/** Runs `foldout inspect` until the work with its page is done. */
async function withInspector(args: readonly string[], work: (url: string) => Promise<void>): Promise<void> {
  const stop = new AbortController()
  const address = createDeferred()
  const hear = (text: string): void => {
    const [url] = /http:\/\/127\.0\.0\.1:\d+\/[\w-]+\//.exec(text) ?? []
    if (url !== undefined) address.resolve(url)
  }
  const ended = runCommand(['node', 'foldout', 'inspect', ...args], {
    stdout: { write: hear },
    stderr: { write: hear },
    env: process.env,
    signal: stop.signal,
    version: '',
  })
  void ended.then((code) => address.reject(new Error(`foldout inspect ended with ${code}.`)))
  try {
    await work(await address.promise)
  } finally {
    stop.abort()
    await ended
  }
}

interface Picture {
  readonly name: string
  readonly colorScheme?: 'light' | 'dark'
  readonly width?: number
  prepare(page: Page): Promise<void>
}

async function take(
  browser: Browser,
  url: string,
  { name, colorScheme = 'light', width = 1280, prepare }: Picture,
): Promise<void> {
  const viewport = { width, height: 800 }
  const context = await browser.newContext({ viewport, colorScheme, locale: 'en-US', timezoneId: 'UTC' })
  const page = await context.newPage()
  await page.goto(url)
  await prepare(page)
  // The name of a temporary file is meaningless.
  await page.evaluate('document.querySelector(".subject").textContent = ""')
  await page.waitForTimeout(400)
  await page.screenshot({ path: join(docs, `inspector-${name}.png`) })
  await context.close()
  console.log(`docs/pictures/inspector-${name}.png`)
}

const browser = await launchBrowser()
try {
  await record()
  await withInspector([runs, '--prompt', join(repository, 'examples/inspector/travel-desk.ts')], async (url) => {
    const openBooking = async (page: Page): Promise<void> => {
      await page.getByRole('treeitem', { name: /^3 Changing/ }).click()
      await page.getByRole('treeitem', { name: /^3 Changing a booking \(open\)/ }).waitFor()
    }
    await take(browser, `${url}#/prompt`, { name: 'prompt', prepare: openBooking })
    await take(browser, `${url}#/runs`, {
      name: 'run',
      prepare: async (page) => {
        await page.getByText('Opened changes', { exact: true }).waitFor()
      },
    })
    await take(browser, `${url}#/runs`, {
      name: 'run-dark',
      colorScheme: 'dark',
      prepare: async (page) => {
        await page.getByRole('tab', { name: /^Messages/ }).click()
        await page.locator('.message').first().waitFor()
      },
    })
    await take(browser, `${url}#/advice`, {
      name: 'advice',
      prepare: (page) => page.getByRole('heading', { name: 'Advice' }).waitFor(),
    })
  })
  await withInspector(['--config', writeConfig(), '--cache', join(folder, 'cache'), '--quiet'], async (url) => {
    await take(browser, url, {
      name: 'catalog',
      prepare: async (page) => {
        await page.locator('.area').nth(35).waitFor({ timeout: 60_000 })
        await page.getByRole('searchbox').fill('find text in files')
        await page.locator('.hits .reasons').first().waitFor({ timeout: 60_000 })
      },
    })
  })
  const rules = [{ action: 'ask', tool: 'filesystem/write_*', reason: 'It changes files.' }]
  await withGateway(writeConfig({ rules, expose: 'hybrid' }), async (url, gateway) => {
    await useGateway(gateway)
    await take(browser, `${url}#/runs`, {
      name: 'client',
      prepare: (page) => page.locator('.step-title').filter({ hasText: 'write_file' }).waitFor(),
    })
  })
} finally {
  await browser.close()
  await removeFolder(folder)
}

interface Deferred {
  readonly promise: Promise<string>
  resolve(value: string): void
  reject(error: Error): void
}

function createDeferred(): Deferred {
  let settle: Omit<Deferred, 'promise'> | undefined
  const promise = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { promise, resolve: (value) => settle?.resolve(value), reject: (error) => settle?.reject(error) }
}
