import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { parseSync, Visitor } from 'oxc-parser'
import { createSession, definePrompt, defineSection, FoldoutError } from 'foldout'
import { createCatalog } from 'foldout/catalog'
import { serveMcp } from 'foldout/mcp'
import { visibility } from 'foldout/session'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { removeFolder } from './remove-folder.ts'

const repository = join(import.meta.dirname, '..')
const dist = join(repository, 'packages/foldout/dist')
/** Inside the repository, so that packages are found from there. */
const folder = join(repository, 'node_modules/.cache/foldout-bundle-test')

const files = readdirSync(dist).filter((file) => file.endsWith('.js'))
/** A thread loads a single file, so it has its own copy of its modules. */
const shared = files.filter((file) => !file.endsWith('-worker.js'))
/** The word vectors have several parts, which only their own entry loads. */
const isTable = (file: string): boolean => /^shared-word-vectors-\d+\.js$/.test(file)

/** Runs a program in a fresh process without this project's own loader. */
function run(source: string): string {
  const file = join(folder, `program-${Math.random().toString(36).slice(2)}.mjs`)
  writeFileSync(file, source)
  const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8', timeout: 60_000 })
  return `${stdout}${stderr}`.trim()
}

/** The files loaded with a file, including itself. */
function findLoaded(entry: string): readonly string[] {
  const loaded = new Set([entry])
  for (const file of loaded) {
    const { module } = parseSync(file, readFileSync(join(dist, file), 'utf8'))
    const targets = [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value ?? '')),
    ]
    for (const target of targets) if (target.startsWith('./')) loaded.add(target.slice(2))
  }
  return [...loaded]
}

/** Regular expressions that are slow to load, anywhere in a file. */
function findSlowLiterals(file: string): readonly string[] {
  const found: string[] = []
  const { program } = parseSync(file, readFileSync(join(dist, file), 'utf8'))
  new Visitor({
    Literal(node) {
      if ('regex' in node && /\\p\{/i.test(node.regex.pattern)) found.push(`${file}: ${node.regex.pattern}`)
    },
  }).visit(program)
  return found
}

beforeAll(() => mkdirSync(folder, { recursive: true }))
afterAll(() => removeFolder(folder))

describe('the bundle', () => {
  it('contains each module once', () => {
    const modules = shared.flatMap((file) => readFileSync(join(dist, file), 'utf8').match(/^\/\/ src\/.+\.ts$/gm) ?? [])
    expect(modules.length).toBeGreaterThan(150)
    expect(modules.filter((module, i) => modules.indexOf(module) !== i)).toEqual([])
  })

  it('has one file per entry, and few others', () => {
    const entries = readdirSync(join(repository, 'packages/foldout/src/entries')).map((file) =>
      file.replace('.ts', '.js'),
    )
    expect(entries.filter((file) => !existsSync(join(dist, file)))).toEqual([])
    expect(shared.filter((file) => !isTable(file)).length - entries.length).toBeLessThan(24)
  })

  it.each(['index', 'catalog', 'mcp'])('loads neither Unicode property literals nor search with %s', (entry) => {
    const loaded = findLoaded(`${entry}.js`)
    expect(loaded).toContain('shared-core.js')
    const isOfSearch = (file: string): boolean =>
      /^\/\/ src\/catalog\/search\/(?:engine\/engine|text\/words)\.ts$/m.test(readFileSync(join(dist, file), 'utf8'))
    expect(loaded.filter(isOfSearch)).toEqual([])
    expect(shared.filter(isOfSearch).sort()).toEqual(['shared-search-index.js', 'shared-search-words.js'])
    expect(loaded.flatMap(findSlowLiterals)).toEqual([])
    expect(findSlowLiterals('shared-search-words.js')).not.toEqual([])
  })

  it('loads nothing about prompts and agents with the first search', () => {
    const loaded = findLoaded('shared-search-index.js').filter((file) => !file.startsWith('shared-search-'))
    expect(loaded.toSorted()).toEqual(['shared-catalog.js', 'shared-core.js'])
  })

  it('has the same classes and slices in every entry', async () => {
    const errors: unknown[] = [
      await createCatalog([])
        .search('')
        .catch((error: unknown) => error),
      await Promise.resolve()
        .then(() => serveMcp(createCatalog([]), { name: '', version: '' }))
        .catch((error: unknown) => error),
    ]
    for (const error of errors) expect(error).toBeInstanceOf(FoldoutError)
    const prompt = definePrompt({
      ns: 'test',
      key: 'prompt',
      sections: [defineSection({ key: 's', title: 'S', template: 'Long.', summary: 'Short.' })],
    })
    const session = createSession()
    session.dispatch(visibility.events.set({ path: 's', visibility: 'summary' }))
    expect(prompt.bind({}).render({ session }).text).toContain('Short.')
  })

  it("finds the file of the sandbox's thread", () => {
    const source = `
      import { createSandbox } from 'foldout/code'
      const sandbox = createSandbox()
      console.log(JSON.stringify(await sandbox.run('return 6 * 7', { functions: new Map() })))
      sandbox.close()`
    expect(run(source)).toContain('42')
  })

  it('reports a missing quickjs-wasi as soon as an exposure is created', () => {
    const name = 'quickjs-wasi'
    const hook = `export async function resolve(specifier, context, next) {
      if (specifier !== '${name}') return next(specifier, context)
      throw Object.assign(new Error("Cannot find package '${name}'"), { code: 'ERR_MODULE_NOT_FOUND' })
    }`
    const source = `
      import { register } from 'node:module'
      register('data:text/javascript,${encodeURIComponent(hook).replaceAll("'", '%27')}')
      const { code } = await import('foldout/code')
      try {
        code()
      } catch (error) {
        console.log(error.code, error.message)
      }`
    expect(run(source)).toBe(
      `peer-missing The package '${name}' is required here and is not installed. Run: npm install ${name}`,
    )
  })

  it("loads the word vectors by their entry's name", () => {
    const source = `
      import { createCatalog } from 'foldout/catalog'
      const tool = (name, description) => ({ source: 's', name, description, inputSchema: { type: 'object' }, call: async () => ({ content: [] }) })
      const catalog = createCatalog([tool('get_forecast', 'Weather forecast for a city.'), tool('pay_invoice', 'Pay an invoice.')])
      const { hits } = await catalog.search('will it rain')
      console.log(hits[0].tool.declared)`
    expect(run(source)).toContain('get_forecast')
    const imports = shared.filter((file) =>
      readFileSync(join(dist, file), 'utf8').includes('import("foldout/word-vectors")'),
    )
    expect(imports).toHaveLength(1)
  })

  it.each(['foldout', 'foldout/catalog', 'foldout/session', 'foldout/adapter', 'foldout/telemetry', 'foldout/testing'])(
    'bundles %s for an unknown runtime',
    async (entry) => {
      const { outputFiles, errors } = await build({
        stdin: { contents: `export * from '${entry}'`, resolveDir: repository },
        bundle: true,
        platform: 'neutral',
        // A neutral bundler has none of its own, and some packages have no `exports`.
        mainFields: ['module', 'main'],
        format: 'esm',
        write: false,
        logLevel: 'silent',
        external: ['foldout/word-vectors'],
      })
      expect(errors).toEqual([])
      expect(outputFiles[0]?.text).not.toMatch(/\bfrom\s*"node:/)
    },
  )

  it('indexes in the background without keeping the process alive; a search does keep it alive', () => {
    const source = `
      import { createCatalog } from 'foldout/catalog'
      const tools = Array.from({ length: 2_000 }, (_, i) => ({
        source: 's', name: 'tool_' + i, description: 'Pays an invoice of kind ' + i + '. '.repeat(200), inputSchema: { type: 'object' },
      }))
      const catalog = createCatalog(tools)
      const waits = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name === 'Immediate').length
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      console.log(waits())
      console.log((await catalog.search('pay an invoice')).hits.length)
      catalog.add([{ source: 's', name: 'another', description: 'Another.', inputSchema: { type: 'object' } }])
      console.log(waits())`
    expect(run(source)).toBe('0\n5\n0')
  })

  it('searches by words alone, and says so once, without the word vectors', async () => {
    await build({
      stdin: {
        contents: `
          import { createCatalog } from 'foldout/catalog'
          const tool = { source: 's', name: 't', description: 'Pay.', inputSchema: { type: 'object' }, call: async () => ({ content: [] }) }
          const catalog = createCatalog([tool])
          catalog.subscribe((event) => console.log(event.type, event.message))
          for (const query of ['pay', 'pay now']) console.log((await catalog.search(query)).hits.length)`,
        resolveDir: repository,
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: join(folder, 'left-out.mjs'),
      alias: { 'foldout/word-vectors': 'word-vectors-that-are-not-there' },
      external: ['word-vectors-that-are-not-there'],
    })
    const { stdout } = spawnSync(process.execPath, [join(folder, 'left-out.mjs')], { encoding: 'utf8' })
    expect(stdout).toMatch(
      /^search\/problem Searches only compare words, because 'foldout\/word-vectors' cannot be loaded: .+\n1\n1\n$/,
    )
    expect(readFileSync(join(folder, 'left-out.mjs')).length).toBeLessThan(1_000_000)
  })
})

describe("R60 the inspector's page", () => {
  it('is small, and loads nothing from elsewhere', () => {
    const page = join(repository, 'packages/foldout-mcp/dist/page')
    const parts = readdirSync(page).map((name) => readFileSync(join(page, name)))
    const bytes = parts.reduce((sum, part) => sum + gzipSync(part).length, 0)
    // It is 63 kB in total.
    expect(bytes).toBeLessThan(150_000)
    const html = readFileSync(join(page, 'index.html'), 'utf8')
    for (const [, address = ''] of html.matchAll(/(?:src|href)="([^"]*)"/g)) expect(address).toMatch(/^\.\//)
  })
})
