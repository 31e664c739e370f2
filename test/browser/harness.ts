import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, vi } from 'vitest'
import { runCommand } from '../../packages/foldout-mcp/src/cli/main.ts'
import { launchBrowser, type Browser, type Page } from './browser.ts'
import { removeFolder } from '../remove-folder.ts'

export const EXAMPLES = join(import.meta.dirname, '../../examples')

/** How long one step may take before the test fails and names it. */
const STEP_MS = 25_000

/** Keeps the user's decisions out of the tests, and the tests' decisions out of the user's. */
const data = mkdtempSync(join(tmpdir(), 'foldout-browser-data-'))

/** Whether to run all tests or only the quick ones. */
export const isWhole = (import.meta as unknown as { env: { MODE: string } }).env.MODE === 'whole'

export interface OpenOptions {
  readonly width?: number
  readonly height?: number
  readonly colorScheme?: 'light' | 'dark'
  readonly locale?: string
}

export interface Inspected {
  readonly url: string
  /** Stops the command as Ctrl+C does, and returns its exit code. */
  stop(): Promise<number>
}

/** Runs `foldout` with these arguments until it has printed the inspector's URL. */
export function startInspector(...args: readonly string[]): Promise<Inspected> {
  const stop = new AbortController()
  return new Promise((resolve, reject) => {
    let printed = ''
    const hear = (text: string): void => {
      printed += text
      const [url] = /http:\/\/127\.0\.0\.1:\d+\/[\w-]+\//.exec(printed) ?? []
      if (url === undefined) return
      const inspected = {
        url,
        stop: async () => {
          stop.abort()
          return ended
        },
      }
      running.add(inspected)
      resolve(inspected)
    }
    const surroundings = {
      stdout: { write: hear },
      stderr: { write: hear },
      env: { ...process.env, XDG_DATA_HOME: data },
      signal: stop.signal,
      version: '1.2.3',
    }
    const ended = runCommand(['node', 'foldout', ...args], surroundings)
    void ended.then((code) => reject(new Error(`foldout ${args.join(' ')} ended with ${code}: ${printed}`)))
  })
}

export interface InspectedGateway extends Inspected {
  /** Where its clients connect. */
  readonly gateway: string
}

const BIN = join(import.meta.dirname, '../../packages/foldout-mcp/bin/foldout.js')

/** Runs `foldout serve --inspect` over HTTP in a process of its own, as a user does, until it serves. */
export function startGateway(...args: readonly string[]): Promise<InspectedGateway> {
  const child = spawn(process.execPath, [BIN, 'serve', '--http', '0', '--inspect', ...args], {
    env: { ...process.env, XDG_DATA_HOME: data },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit') as Promise<[code: number]>
  return new Promise((resolve, reject) => {
    let printed = ''
    child.stderr.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      const [, url] = /^Inspector: (\S+)$/m.exec(printed) ?? []
      const [, gateway] = /^Serving .* at (\S+)$/m.exec(printed) ?? []
      if (url === undefined || gateway === undefined) return
      const stop = async (): Promise<number> => {
        child.kill()
        return (await ended)[0]
      }
      const inspected = { url, gateway, stop }
      running.add(inspected)
      resolve(inspected)
    })
    void ended.then(([code]) => reject(new Error(`foldout serve ended with ${code}: ${printed}`)))
  })
}

const running = new Set<Inspected>()
const pages: { readonly page: Page; readonly problems: string[]; close(): Promise<void> }[] = []
let browser: Browser

/** Opens a page. An error on the page fails the test, and so does a request to another host. */
export async function open(url: string, options: OpenOptions = {}): Promise<Page> {
  const { width = 1280, height = 800, colorScheme = 'light', locale = 'en-US' } = options
  const permissions = ['clipboard-read', 'clipboard-write']
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, locale, permissions })
  const page = await context.newPage()
  page.setDefaultTimeout(STEP_MS)
  const problems: string[] = []
  page.on('pageerror', ({ message }) => problems.push(`error: ${String(message)}`))
  page.on('dialog', ({ message }) => problems.push(`dialog: ${String(message)}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('ERR_CONNECTION_REFUSED')) problems.push(message.text())
  })
  page.on('request', (request) => {
    const own = url.startsWith('file:') ? 'file:' : new URL(url).origin
    if (!request.url().startsWith(own)) problems.push(`request: ${request.url()}`)
  })
  pages.push({ page, problems, close: () => context.close() })
  await page.goto(url)
  return page
}

/** Takes the problems that a test expects, so that they do not fail it. */
export function takeProblems(page: Page): readonly string[] {
  return pages.find((each) => each.page === page)?.problems.splice(0) ?? []
}

/** Starts a browser for the tests of a file, and cleans up after each of them. */
export function useBrowser(): void {
  vi.setConfig({ testTimeout: 150_000, hookTimeout: 120_000 })
  beforeAll(async () => {
    browser = await launchBrowser()
  }, 240_000)
  afterEach(async () => {
    const problems = pages.flatMap((page) => page.problems)
    await Promise.all(pages.splice(0).map((page) => page.close()))
    await Promise.all(Array.from(running, (inspected) => inspected.stop()))
    running.clear()
    expect(problems).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
    await removeFolder(data)
  })
}
