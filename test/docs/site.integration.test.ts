import { spawnSync } from 'node:child_process'
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repository } from '../../tools/packages.mjs'
import { findBlankPages, findRenderErrors } from '../../tools/site/faults.ts'
import { launchBrowser, type Browser, type Page } from '../browser/browser.ts'

const SITE = join(repository, 'tools/site/generated/site')
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
  json: 'application/json',
}

let browser: Browser
let server: Server
let address = ''

/** Serves the built site, as a host with clean URLs does. */
function serve(): Promise<Server> {
  const made = createServer(({ url = '/' }, response) => {
    const path = decodeURIComponent(new URL(url, 'http://localhost').pathname)
    const candidates = [path, `${path}.html`, `${path}index.html`].map((each) => join(SITE, each))
    const file = candidates.find((each) => /\.\w+$/.test(each) && existsSync(each))
    if (file === undefined) {
      response.writeHead(404).end()
      return
    }
    response.setHeader('content-type', TYPES[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream')
    createReadStream(file).pipe(response)
  })
  return new Promise((resolve) => made.listen(0, '127.0.0.1', () => resolve(made)))
}

beforeAll(async () => {
  const built = spawnSync(process.execPath, ['--import', 'tsx', 'tools/site/build.ts'], {
    cwd: repository,
    encoding: 'utf8',
    maxBuffer: 64 * 1_024 * 1_024,
  })
  if (built.status !== 0) throw new Error(`${built.stdout}${built.stderr}`)
  server = await serve()
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await launchBrowser()
}, 400_000)
afterAll(async () => {
  await browser?.close()
  server?.closeAllConnections()
  server?.close()
})

/** What reaches over the edge: the page itself, code, and in a wide window also tables and pictures. */
const OVERFLOWS = `(() => {
  const root = document.documentElement
  const isWide = innerWidth > 1000
  const parts = [...document.querySelectorAll(isWide ? '.vp-doc :is(pre, table, img)' : '.vp-doc pre')]
  return [
    ...(root.scrollWidth > root.clientWidth ? ['the page, by ' + (root.scrollWidth - root.clientWidth) + ' px'] : []),
    ...parts
      .filter((part) => part.scrollWidth > part.clientWidth + 1)
      .map((part) => part.tagName + ', by ' + (part.scrollWidth - part.clientWidth) + ' px: ' + part.textContent.trim().slice(0, 60)),
  ]
})()`

async function findOverflows(page: Page, paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const path of paths) {
    await page.goto(`${address}/${path}`)
    const wide = await page.evaluate<readonly string[]>(OVERFLOWS)
    found.push(...wide.map((each) => `${path}: ${each}`))
  }
  return found
}

describe('the site', () => {
  const listPages = (): readonly string[] =>
    readdirSync(SITE, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.html') && file !== '404.html')
      .map((file) =>
        file
          .replaceAll('\\', '/')
          .replace(/(^|\/)index\.html$/, '$1')
          .replace(/\.html$/, ''),
      )
      .sort()

  it('has every page, and none is blank', () => {
    expect(listPages()).toEqual(expect.arrayContaining(['', 'guide/install', 'errors', 'api/foldout']))
    expect(findBlankPages(SITE)).toEqual([])
  })

  it.each([1280, 400])(
    'fits a window of %i px, on every page, without an error',
    async (width) => {
      const context = await browser.newContext({ viewport: { width, height: 800 }, reducedMotion: 'reduce' })
      const page = await context.newPage()
      const errors: string[] = []
      page.on('pageerror', ({ message }) => errors.push(String(message)))
      expect(await findOverflows(page, listPages())).toEqual([])
      expect(errors).toEqual([])
      await context.close()
    },
    300_000,
  )

  it('lists pages of the guide before types in its search', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    await page.goto(`${address}/`)
    for (const query of ['session', 'catalog', 'skills', 'approval']) {
      await page
        .getByRole('button', { name: /search/i })
        .first()
        .click({ timeout: 120_000 })
      await page.locator('.VPLocalSearchBox input').fill(query)
      const first = page.locator('.VPLocalSearchBox .result').first()
      await first.waitFor()
      await page.waitForFunction(`document.querySelectorAll('.VPLocalSearchBox .result').length > 3`)
      expect(await first.getAttribute('href')).not.toContain('/api/')
      await page.keyboard.press('Escape')
    }
    await context.close()
  }, 300_000)
})

describe('a build of the site', () => {
  it('fails on an error that vitepress only prints', () => {
    expect(
      findRenderErrors("TypeError: Cannot read properties of undefined (reading 'NAME')\n    at render"),
    ).toHaveLength(1)
    expect(findRenderErrors('(!) Some chunks are larger than 500 kB\n')).toEqual([])
  })
})
