// A real browser for tests. Its packages are installed beside this file when they are first needed.
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { withLock } from 'foldout/node'
import { installPackages } from '../../tools/install-packages.ts'

/** The parts of playwright that the tests use. */
export interface Locator {
  click(options?: { readonly force?: boolean; readonly timeout?: number }): Promise<void>
  count(): Promise<number>
  fill(text: string): Promise<void>
  first(): Locator
  nth(index: number): Locator
  focus(): Promise<void>
  getAttribute(name: string): Promise<string | null>
  innerText(): Promise<string>
  allInnerTexts(): Promise<string[]>
  getByRole(role: string, options?: RoleOptions): Locator
  getByText(text: string | RegExp, options?: { readonly exact?: boolean }): Locator
  locator(selector: string): Locator
  filter(options: { readonly hasText: string | RegExp }): Locator
  isVisible(): Promise<boolean>
  press(key: string): Promise<void>
  selectOption(value: string): Promise<unknown>
  textContent(): Promise<string | null>
  waitFor(options?: {
    readonly state?: 'visible' | 'hidden' | 'attached' | 'detached'
    readonly timeout?: number
  }): Promise<void>
  screenshot(options: { readonly path: string }): Promise<unknown>
}
interface RoleOptions {
  readonly name?: string | RegExp
  readonly exact?: boolean
}
export interface Page {
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> }
  goto(url: string): Promise<unknown>
  reload(): Promise<unknown>
  close(): Promise<void>
  evaluate<Result>(work: string): Promise<Result>
  getByRole(role: string, options?: RoleOptions): Locator
  getByLabel(text: string | RegExp): Locator
  getByText(text: string | RegExp, options?: { readonly exact?: boolean }): Locator
  locator(selector: string): Locator
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): void
  on(event: 'pageerror' | 'dialog', listener: (error: { message: unknown }) => void): void
  on(event: 'request', listener: (request: { url(): string }) => void): void
  screenshot(options: { readonly path: string }): Promise<unknown>
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>
  setDefaultTimeout(ms: number): void
  title(): Promise<string>
  waitForFunction(condition: string, argument?: unknown, options?: { readonly timeout: number }): Promise<unknown>
  waitForTimeout(ms: number): Promise<void>
  waitForEvent(name: 'download'): Promise<{ saveAs(path: string): Promise<void>; suggestedFilename(): string }>
}
export interface Browser {
  newContext(options: object): Promise<{ newPage(): Promise<Page>; close(): Promise<void> }>
  close(): Promise<void>
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]
const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Starts the machine's browser, or one from a package if there is none. */
export async function launchBrowser(): Promise<Browser> {
  installPackages(import.meta.dirname)
  const { chromium } = await load<{ chromium: { launch(options: object): Promise<Browser> } }>(
    'playwright-core/index.mjs',
  )
  const own = INSTALLED.find((path) => existsSync(path))
  if (own !== undefined) return chromium.launch({ executablePath: own, args: FLAGS })
  installPackages(join(import.meta.dirname, 'chromium'))
  const packed = await load<{ default: { executablePath(): Promise<string> } }>(
    '../chromium/node_modules/@sparticuz/chromium/build/index.js',
  )
  // Unpacked by one test file at a time: the others would find a partial copy.
  const executablePath = await withLock(join(tmpdir(), 'foldout-chromium.lock'), () => packed.default.executablePath())
  // Without the package's flags: a single process would end with its first page, and web security must be on.
  return chromium.launch({ executablePath, args: FLAGS })
}

/** Finds elements that overflow their container and would be cut off. The content of a scrollable element may be wider. */
const CUT_OFF = `[...document.querySelectorAll('main :is(table, figure, dl, form, h1, h2, p, pre, button, input)')]
  .filter((part) => part.getBoundingClientRect().right > part.closest('.pane, main').getBoundingClientRect().right + 1)
  .filter((part) => part.closest('[role=tablist], .wide-table') === null)
  .map((part) => 'cut off: ' + part.outerHTML.slice(0, 120))`

/** The accessibility problems that axe finds on a page, and elements that are cut off. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  installPackages(import.meta.dirname)
  const { default: AxeBuilder } = await load<{
    default: new (options: { page: Page }) => { analyze(): Promise<{ violations: readonly Violation[] }> }
  }>('@axe-core/playwright/dist/index.mjs')
  const { violations } = await new AxeBuilder({ page }).analyze()
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
  )
  return [...found, ...(await page.evaluate<readonly string[]>(CUT_OFF))]
}
interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[]
}

function load<Module>(path: string): Promise<Module> {
  return import(pathToFileURL(join(import.meta.dirname, 'node_modules', path)).href) as Promise<Module>
}
