// What vitepress does not report as a failure: it prints what a page throws while it is rendered, leaves the page blank, and ends with 0.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The fewest letters that a page has. */
const MIN_LETTERS = 100

/** The errors among the lines that the build printed. */
export function findRenderErrors(printed: string): readonly string[] {
  return [...printed.matchAll(/^\S*Error: .*$/gm)].map(([line]) => line)
}

/** The built pages whose content is empty. */
export function findBlankPages(site: string): readonly string[] {
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' })
  return files.filter((file) => {
    if (!file.endsWith('.html') || file === '404.html') return false
    const [, content = ''] =
      /<div[^>]* class="[^"]*\bvp-doc\b[^"]*"[^>]*>([^]*)/.exec(readFileSync(join(site, file), 'utf8')) ?? []
    return content.replaceAll(/<script[^]*?<\/script>|<[^>]*>|\s/g, '').length < MIN_LETTERS
  })
}
