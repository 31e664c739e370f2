// Builds the documentation site from docs/: `npm run docs`, or `npm run docs -- --dev` to serve it while you write.
// Other arguments go to vitepress: `npm run docs -- --base /foldout/`.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, watch, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repository } from '../packages.mjs'
import { findBlankPages, findRenderErrors } from './faults.ts'
import { formatFullText, formatOverview, readFirstSentence, readTitle } from './llms.ts'
import { listPages, mapProse, toSitePage } from './pages.ts'
import { installPackages } from '../install-packages.ts'

const folder = import.meta.dirname
const generated = join(folder, 'generated')
const pagesFolder = join(generated, 'pages')
/** Files that the site serves unchanged: the texts of its pages, for models. */
const publicFolder = join(pagesFolder, 'public')
const args = process.argv.slice(2)
const isDev = args.includes('--dev')

installPackages(folder)
rmSync(pagesFolder, { recursive: true, force: true })
writePages()
writeReference()
if (isDev) watch(join(repository, 'docs'), { recursive: true }, writePages)
const command = [isDev ? 'dev' : 'build', folder, ...args.filter((arg) => arg !== '--dev')]
const vitepress = spawn(process.execPath, [join(folder, 'node_modules/vitepress/bin/vitepress.js'), ...command], {
  stdio: ['inherit', 'inherit', 'pipe'],
})
let problems = ''
vitepress.stderr.on('data', (chunk: Buffer) => {
  process.stderr.write(chunk)
  problems += chunk.toString()
})
vitepress.on('close', (code) => {
  process.exitCode = code ?? 1
  if (isDev) return
  if (findRenderErrors(problems).length > 0) fail('A page could not be rendered; the error is above.')
  for (const page of findBlankPages(join(generated, 'site'))) fail(`${page} has no text.`)
})

function fail(reason: string): void {
  console.error(reason)
  process.exitCode = 1
}

/** Writes every page, the pictures, and the texts for models. */
function writePages(): void {
  const pages = listPages()
  for (const each of pages) {
    const text = toSitePage(each, pages)
    write(join(pagesFolder, each.page), text)
    write(join(publicFolder, each.page), text)
  }
  const pictures = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
  for (const file of pictures.filter((name) => /\.(svg|png|webp)$/.test(name))) {
    mkdirSync(dirname(join(pagesFolder, file)), { recursive: true })
    cpSync(join(repository, 'docs', file), join(pagesFolder, file))
  }
  cpSync(join(repository, 'packages/foldout-mcp/page/public/icon.svg'), join(publicFolder, 'icon.svg'))
  write(join(publicFolder, 'llms.txt'), formatOverview(pages))
  write(join(publicFolder, 'llms-full.txt'), formatFullText(pages))
}

/** Writes the reference from the comments of the sources: one page for each entry. */
function writeReference(): void {
  const api = join(pagesFolder, 'api')
  const typedoc = join(folder, 'node_modules/typedoc/bin/typedoc')
  // Its options are in typedoc.json.
  const { status } = spawnSync(process.execPath, [typedoc], { cwd: folder, stdio: 'inherit' })
  if (status !== 0) throw new Error('typedoc could not write the reference.')
  rmSync(join(api, 'README.md'))
  dropNumbers(api)
  const index = formatReferenceIndex(api)
  write(join(api, 'index.md'), index)
  write(join(publicFolder, 'api/index.md'), index)
}

/** The entries of both packages, each with what its comment says first. */
function formatReferenceIndex(api: string): string {
  const rows = readdirSync(api, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && file !== 'index.md')
    .map((file) => file.replaceAll('\\', '/'))
    .sort((one, other) => (one < other ? -1 : 1))
    .map((file) => {
      const text = readFileSync(join(api, file), 'utf8')
      return `| [${readTitle(text)}](./${file}) | ${readFirstSentence(text)} |`
    })
  const head =
    'Every name that the packages export, by the entry that it is imported from. Each has an example that runs.'
  return `# API reference\n\n${head}\n\n| entry | what it has |\n| --- | --- |\n${rows.join('\n')}\n`
}

/** Drops the number that typedoc adds to the page of an entry with the same name as a type, such as `foldout/prompt`. */
function dropNumbers(api: string): void {
  const files = readdirSync(api, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'))
  for (const file of files) {
    const text = readFileSync(join(api, file), 'utf8')
    const plain = mapProse(text, (prose) => prose.replaceAll(/(\]\([^)\s#]*)-1\.md/g, '$1.md'))
    rmSync(join(api, file))
    const page = file.replace(/-1\.md$/, '.md')
    write(join(api, page), plain)
    write(join(publicFolder, 'api', page), plain)
  }
}

function write(file: string, text: string): void {
  // An unchanged page is not rewritten, so that a browser does not reload it.
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
