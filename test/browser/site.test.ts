import { spawnSync } from 'node:child_process'
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { open, useBrowser } from './harness.ts'

useBrowser()

const repository = join(import.meta.dirname, '../..')
const site = join(repository, 'tools/site/generated/site')
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}
/** The fewest letters that a person sees on a page. */
const MIN_LETTERS = 200

/** What a person sees of a page: how much text, and what is wider than its place. */
interface Seen {
  readonly letters: number
  readonly overflow: number
  readonly wideCode: number
}

const LOOK = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement
  const content = document.querySelector('.vp-doc, .VPHome')
  const code = [...document.querySelectorAll('.vp-doc pre')]
  return {
    letters: (content?.innerText ?? '').replaceAll(/\\s/g, '').length,
    overflow: scrollWidth - clientWidth,
    wideCode: code.filter((block) => block.scrollWidth > block.clientWidth + 1).length,
  }
})()`

let server: Server
let address: string
beforeAll(async () => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '-s', 'docs'], { cwd: repository, encoding: 'utf8' })
  expect({ status, ...(status !== 0 && { stdout, stderr }) }).toEqual({ status: 0 })
  server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost')
    const path = join(site, decodeURIComponent(pathname))
    const file = [path, `${path}.html`, join(path, 'index.html')].find((one) => existsSync(one) && extname(one) !== '')
    if (file === undefined) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
    createReadStream(file).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}, 400_000)
afterAll(() => new Promise((resolve) => server.close(resolve)))

/** Every page but those of the reference, which are made by one template. */
function listPages(): readonly string[] {
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'))
  const written = files.filter(
    (file) => !file.startsWith('reference') && !file.startsWith('api') && file !== '404.html',
  )
  const [reference] = files.filter((file) => !written.includes(file) && file !== '404.html').toSorted()
  return [...written, ...(reference === undefined ? [] : [reference])].toSorted()
}

describe.each([1_280, 400])('every page of the site at %d pixels', (width) => {
  it('has text, and nothing that is wider than the window', async () => {
    const pages = listPages()
    expect(pages.length).toBeGreaterThan(20)
    const page = await open(`${address}/`, { width })
    const faults: Record<string, Seen> = {}
    for (const file of pages) {
      await page.goto(`${address}/${file}`)
      const seen = await page.evaluate<Seen>(LOOK)
      const isWide = seen.overflow > 0 || (width > 1_000 && seen.wideCode > 0)
      if (seen.letters < MIN_LETTERS || isWide) faults[file] = seen
    }
    expect(faults).toEqual({})
  }, 300_000)
})
