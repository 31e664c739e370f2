import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PACKAGES } from '../tools/packages.mjs'

/** The rooms of the library: what each may import, and what it may import as types only. */
interface Room {
  readonly imports: readonly string[]
  readonly types?: readonly string[]
}

const ROOMS: Readonly<Record<string, Room>> = {
  core: { imports: [] },
  session: { imports: ['core'] },
  // What a model sees of a folded result, and how it reads it; who stores it is up to the caller.
  results: { imports: ['core'], types: ['tools'] },
  files: { imports: ['core'] },
  // A tool's context names the filesystem, and the file tools are tools.
  tools: { imports: ['core', 'session', 'files'] },
  // Searches in the sections of prompts, with the search of catalogs.
  find: { imports: ['core', 'tools', 'catalog'] },
  disclosure: { imports: ['core', 'session', 'tools', 'find'], types: ['files'] },
  prompt: { imports: ['core', 'session', 'tools', 'files', 'find', 'disclosure'] },
  // Adapters know prompts only by type, and know nothing about disclosure or the loop. They write signatures of tools.
  adapters: { imports: ['core', 'session', 'tools', 'catalog'], types: ['prompt'] },
  agent: { imports: ['core', 'session', 'tools', 'results', 'disclosure', 'prompt', 'adapters'], types: ['files'] },
  // Catalogs know nothing about prompts; the section that contains a catalog is in `sections`.
  catalog: { imports: ['core', 'session', 'tools'] },
  sections: { imports: ['core', 'session', 'tools', 'files', 'prompt', 'catalog'] },
  mcp: {
    imports: ['core', 'session', 'tools', 'results', 'disclosure', 'prompt', 'catalog', 'sections'],
    types: ['files'],
  },
  // Telemetry listens to everything, and tunes core tools as catalogs learn them; only comparisons, which count what
  // runs did, import it.
  telemetry: {
    imports: ['core', 'session', 'tools', 'results', 'files', 'disclosure', 'prompt', 'adapters', 'agent', 'catalog'],
  },
  compare: {
    imports: ['core', 'session', 'tools', 'results', 'disclosure', 'prompt', 'adapters', 'agent', 'telemetry'],
  },
  testing: {
    imports: ['core', 'session', 'tools', 'files', 'disclosure', 'prompt', 'adapters', 'agent', 'catalog', 'sections'],
  },
}

/**
 * The folders of rooms, and the rooms of foldout-mcp: what each may import beside it. `.` are the files beside the folders.
 * A list only names what comes before it, so nothing imports in a circle.
 */
const FOLDERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'foldout/src/core': {
    '.': [],
    json: [],
    pattern: ['.'],
    price: ['.'],
    tokens: ['.'],
    schema: ['.', 'json', 'pattern'],
  },
  'foldout/src/core/schema': { check: [], '.': ['check'] },
  'foldout/src/session': { '.': [], stores: ['.'] },
  'foldout/src/tools': { '.': [], files: ['.'] },
  'foldout/src/disclosure': { '.': [], strategies: ['.'], ahead: ['.'] },
  'foldout/src/sections': { '.': [], skills: ['.'], markdown: ['skills'] },
  // The files beside the folders are the contract and what all providers share.
  'foldout/src/adapters': {
    cache: [],
    usage: [],
    '.': ['cache', 'usage'],
    openai: ['.', 'usage'],
    anthropic: ['.', 'usage'],
    'claude-agent': ['.', 'cache', 'usage', 'anthropic'],
    'ai-sdk': ['.', 'usage', 'anthropic'],
  },
  'foldout/src/agent': {
    refold: [],
    state: ['refold'],
    '.': ['refold', 'state'],
    ahead: ['.'],
    loop: ['.', 'refold', 'state', 'ahead'],
    engines: ['.', 'state', 'loop'],
    hosts: ['.', 'state', 'ahead', 'loop'],
  },
  'foldout/src/agent/loop': { session: [], calls: ['session'], '.': ['session', 'calls'] },
  // An integration with somebody's loop knows no other.
  'foldout/src/agent/hosts': {
    core: [],
    'ai-sdk': ['core'],
    'claude-agent': ['core'],
    langchain: ['core'],
    mastra: ['core'],
    'openai-agents': ['core'],
  },
  'foldout/src/testing': { hosts: [], '.': [] },
  'foldout/src/telemetry': { simulate: [], '.': ['simulate'], tune: ['.', 'simulate'], opentelemetry: ['.'] },
  // Statistics know numbers only.
  'foldout/src/compare': {
    statistics: [],
    contract: [],
    grade: ['contract'],
    cases: ['contract', 'grade'],
    file: ['contract'],
    run: ['contract', 'grade', 'file'],
    report: ['contract', 'statistics'],
    format: ['contract'],
    '.': ['contract', 'statistics', 'grade', 'cases', 'file', 'run', 'report', 'format'],
  },
  // The files beside the folders are what all of them are about: a tool, a catalog, an exposure.
  'foldout/src/catalog': {
    search: [],
    '.': ['search'],
    signatures: ['.'],
    entries: ['.', 'signatures'],
    'meta-tools': ['.', 'search', 'signatures', 'entries'],
    exposures: ['.', 'search', 'signatures', 'entries', 'meta-tools'],
    use: ['.'],
    live: ['.', 'search', 'entries'],
  },
  'foldout/src/catalog/search': {
    '.': [],
    text: ['.'],
    lexical: ['.', 'text'],
    vectors: ['.', 'text', 'lexical'],
    minilm: ['.', 'vectors'],
    engine: ['.', 'text', 'lexical', 'vectors'],
  },
  'foldout/src/catalog/signatures': { schema: [], '.': ['schema'] },
  'foldout/src/catalog/exposures/code': {
    contract: [],
    guest: ['contract'],
    host: ['contract'],
    '.': ['contract', 'host'],
  },
  'foldout/src/prompt': {
    definition: [],
    overrides: ['definition'],
    render: ['definition', 'overrides'],
    '.': ['definition', 'overrides', 'render'],
    'override-store': ['definition', 'overrides', '.'],
  },
  'foldout/src/mcp': {
    '.': [],
    protocol: ['.'],
    transports: ['.', 'protocol'],
    client: ['.', 'protocol', 'transports'],
    'tools-from': ['.', 'protocol', 'client'],
    skills: ['.', 'protocol', 'client', 'tools-from'],
    serve: ['.', 'protocol', 'transports', 'skills'],
  },
  'foldout/src/mcp/transports': { http: [], 'http-client': [], stdio: [] },
  'foldout/src/mcp/serve': {
    contract: [],
    sections: ['contract'],
    results: ['contract'],
    views: ['contract', 'sections', 'results'],
    requests: ['contract', 'sections', 'views'],
    conversation: ['contract', 'views', 'requests'],
    http: ['contract', 'views', 'requests', 'conversation'],
    '.': ['contract', 'views', 'requests', 'conversation', 'http'],
  },
  'foldout-mcp/src': {
    system: [],
    shared: ['system'],
    gateway: ['shared', 'system'],
    registry: ['shared', 'gateway'],
    clients: ['shared', 'system', 'gateway'],
    inspector: ['shared', 'gateway'],
    cli: ['shared', 'system', 'gateway', 'registry', 'clients', 'inspector'],
    entries: ['gateway'],
  },
  'foldout-mcp/src/gateway': {
    config: [],
    // What is known about servers.
    model: ['config'],
    // What clients may do. It knows nothing about running servers.
    policy: ['config', 'model'],
    results: ['config'],
    traffic: ['config', 'policy'],
    auth: ['config', 'policy'],
    upstreams: ['config', 'model', 'policy', 'auth'],
    store: ['config', 'model', 'policy', 'results', 'auth', 'upstreams'],
    servers: ['config', 'model', 'policy', 'auth', 'upstreams', 'store'],
    calls: ['policy', 'results', 'traffic', 'upstreams', 'servers'],
    serve: ['config', 'model', 'policy', 'results', 'traffic', 'upstreams', 'store', 'servers', 'calls'],
    '.': ['config', 'model', 'policy', 'results', 'traffic', 'upstreams', 'store', 'servers', 'calls', 'serve'],
  },
  'foldout-mcp/src/gateway/policy': {
    secrets: [],
    rules: [],
    pins: [],
    approvals: ['secrets'],
    audit: ['secrets'],
    quotas: ['rules'],
    '.': ['secrets', 'rules', 'approvals', 'audit', 'quotas'],
  },
  'foldout-mcp/src/gateway/calls': {
    call: [],
    stages: ['call'],
    requests: ['stages'],
    '.': ['call', 'stages', 'requests'],
  },
  'foldout-mcp/src/gateway/store': { contract: [], postgres: ['contract'], '.': ['contract', 'postgres'] },
  'foldout-mcp/src/gateway/upstreams': {
    failures: [],
    process: ['failures'],
    http: ['failures'],
    asking: ['failures', 'process'],
    '.': ['failures', 'process', 'http', 'asking'],
  },
  'foldout-mcp/src/clients': { documents: [], '.': ['documents'], known: ['.'], install: ['.', 'documents'] },
  'foldout-fleet/src': { '.': [], sessions: ['.'], runs: ['.', 'sessions'], entries: ['sessions', 'runs'] },
  'foldout-mcp/src/inspector': {
    protocol: [],
    http: ['protocol'],
    '.': ['protocol', 'http'],
    runs: ['.', 'protocol', 'http'],
    clients: ['protocol', 'runs'],
    compare: ['.', 'protocol', 'runs'],
    prompt: ['.', 'protocol'],
    catalog: ['.', 'protocol'],
    advice: ['.', 'protocol', 'runs', 'clients'],
  },
  'foldout-mcp/src/cli': {
    support: [],
    inspect: ['support'],
    gateway: ['support', 'inspect'],
    configure: ['support'],
    policy: ['support'],
    prompts: ['support', 'inspect'],
    compare: ['support'],
    'sign-in': ['support'],
    traffic: ['support', 'gateway'],
    fleet: ['support', 'policy'],
    '.': ['support', 'gateway', 'configure', 'policy', 'prompts', 'compare', 'sign-in', 'traffic', 'fleet'],
  },
}

/** Generated files outside src: who imports them, and under which name. */
const GENERATED: Readonly<Record<string, string>> = {
  'catalog/search/vectors/packed-vectors.ts': '../word-vectors/index.js',
  'catalog/search/minilm/request-map.ts': '../word-vectors/request-map.js',
}

const repository = join(import.meta.dirname, '..')
const src = join(repository, 'packages/foldout/src')
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: repository,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
const files = tracked
  .map((file) => relative(src, join(repository, file)))
  .filter((file) => !file.startsWith('..') && /(?<!\.test|\.fixtures)\.ts$/.test(file))
const getFolder = (file: string): string => file.split(sep)[0] ?? ''

interface Import {
  readonly target: string
  readonly isType: boolean
}

/** Static and dynamic imports and re-exports of a file; `import type`, `export type` and `import('…').X` are types. */
function getImports(file: string): readonly Import[] {
  const text = readFileSync(join(src, file), 'utf8')
  const statements = [...text.matchAll(/^(import|export) (type )?(?:[^'";]*? from )?'([^']+)'/gm)]
  const calls = [...text.matchAll(/(await |typeof )?\bimport\('([^']+)'\)/g)]
  return [
    ...statements.map(([, , type, target = '']) => ({ target, isType: type !== undefined })),
    ...calls.map(([, before, target = '']) => ({ target, isType: before === 'typeof ' })),
  ]
}

/** The development dependencies of foldout-mcp that its build includes, so that users do not install them. */
const BUNDLED = {
  '@modelcontextprotocol/client': true,
  commander: true,
  'foldout-shared': true,
  'jsonc-parser': true,
  'p-limit': true,
  valibot: true,
}

describe('rooms', () => {
  it('every folder is listed', () => {
    const folders = new Set(files.map(getFolder))
    expect([...folders].filter((folder) => folder !== 'entries' && !(folder in ROOMS))).toEqual([])
  })

  it('every import stays within them', () => {
    const broken = files
      .filter((file) => getFolder(file) !== 'entries')
      .flatMap((file) => {
        const from = getFolder(file)
        const room = ROOMS[from]
        return getImports(file)
          .filter(({ target }) => target.startsWith('.') && join(dirname(file), target) !== GENERATED[file])
          .map(({ target, isType }) => ({ to: getFolder(relative(src, join(src, dirname(file), target))), isType }))
          .filter(({ to, isType }) => {
            if (to === from || room?.imports.includes(to)) return false
            return !(isType && room?.types?.includes(to))
          })
          .map(({ to, isType }) => `${file}: ${from} must not import ${isType ? 'types of ' : ''}${to}`)
      })
    expect(broken).toEqual([])
  })

  it('every room with folders is listed', () => {
    const inFolders = tracked.flatMap((file) => {
      const [, name = '', room = ''] =
        /^packages\/([\w-]+\/src)\/([\w-]+)\/[\w-]+\/.*(?<!\.test|\.fixtures)\.ts$/.exec(file) ?? []
      return name === '' ? [] : [`${name}/${room}`]
    })
    expect([...new Set(inFolders)].filter((room) => !(room in FOLDERS))).toEqual([])
  })

  it.each(Object.entries(FOLDERS))('the folders of packages/%s import only what is below them', (room, layers) => {
    const top = join(repository, 'packages', room)
    const own = tracked
      .map((file) => relative(top, join(repository, file)))
      .filter(
        (file) => !file.startsWith('..') && /(?<!\.test|\.fixtures)\.ts$/.test(file) && existsSync(join(top, file)),
      )
    const getLayer = (file: string): string => (file.includes(sep) ? getFolder(file) : '.')
    const names = Object.keys(layers)
    expect([...new Set(own.map(getLayer))].filter((name) => !names.includes(name))).toEqual([])
    const circles = Object.entries(layers).flatMap(([name, imports]) =>
      imports.filter((other) => names.indexOf(other) >= names.indexOf(name)).map((other) => `${name} → ${other}`),
    )
    expect(circles).toEqual([])
    const broken = own.flatMap((file) =>
      getImports(relative(src, join(top, file)))
        .filter(({ target }) => target.startsWith('.'))
        .map(({ target }) => join(dirname(file), target))
        .filter((target) => !target.startsWith('..'))
        .filter((target) => {
          const [from, to] = [getLayer(file), getLayer(target)]
          return from !== to && layers[from]?.includes(to) !== true
        })
        .map((target) => `${file} must not import ${target}`),
    )
    expect(broken).toEqual([])
  })

  it('no room imports an entry', () => {
    const broken = files.filter((file) =>
      getImports(file).some(
        ({ target }) => target.startsWith('.') && join(dirname(file), target).startsWith('entries/'),
      ),
    )
    expect(broken).toEqual([])
  })

  it('no source file is longer than 400 lines', () => {
    expect(files.filter((file) => readFileSync(join(src, file), 'utf8').split('\n').length > 400)).toEqual([])
  })

  it.each([
    ['foldout-fleet', { 'foldout-shared': true }],
    ['foldout-mcp', BUNDLED],
  ])('%s imports only public entries of other packages and its own dependencies', (name, bundled) => {
    const folder = `packages/${name}/`
    const { dependencies, devDependencies, optionalDependencies, peerDependencies } = JSON.parse(
      readFileSync(join(repository, folder, 'package.json'), 'utf8'),
    ) as Record<string, Readonly<Record<string, string>>>
    const broken = tracked
      .filter((file) => file.startsWith(`${folder}src/`) && /\.m?ts$/.test(file) && existsSync(join(repository, file)))
      .flatMap((file) => {
        const isTest = /\.(test|fixtures)\.m?ts$/.test(file)
        const known = { ...dependencies, ...peerDependencies, ...bundled, ...(isTest && devDependencies) }
        const text = readFileSync(join(repository, file), 'utf8')
        const imports = getImports(relative(src, join(repository, file)))
        // An optional package may be missing, so it must be loaded where its absence is handled.
        const isOptional = (name: string): boolean =>
          name in { ...optionalDependencies } && !new RegExp(`^import (?!type )[^;\\n]*'${name}`, 'm').test(text)
        return imports
          .filter(({ target, isType }) => {
            if (target.startsWith('.')) {
              const path = join(dirname(file), target)
              return !path.startsWith(`${folder}src/`) && !(isTest && path.startsWith('test/'))
            }
            const name = target.split('/', target.startsWith('@') ? 2 : 1).join('/')
            // The driver's types are erased; the package that has the driver is loaded where its absence is handled.
            if (isType && `@types/${name}` in { ...devDependencies }) return false
            return !target.startsWith('node:') && !(name in known) && !isOptional(name)
          })
          .map(({ target }) => `${file} must not import ${target}`)
      })
    expect(broken).toEqual([])
  })

  it('the built foldout-mcp imports none of the packages that it includes', () => {
    const dist = join(repository, 'packages/foldout-mcp/dist')
    const names = Object.keys(BUNDLED).join('|')
    const imports = readdirSync(dist)
      .filter((name) => name.endsWith('.js'))
      .filter((name) =>
        new RegExp(`(?:from|import) ?\\(?"(?:${names})["/]`).test(readFileSync(join(dist, name), 'utf8')),
      )
    expect(imports).toEqual([])
  })

  it('foldout imports no other package that is published', () => {
    expect(files.filter((file) => /'foldout-(fleet|mcp)/.test(readFileSync(join(src, file), 'utf8')))).toEqual([])
  })

  it('the shared package imports nothing but Node built-ins and itself', () => {
    const own = tracked.filter((file) => /^packages\/shared\/src\/[\w-]+(?<!\.test)\.ts$/.test(file))
    const targets = own.flatMap((file) => getImports(relative(src, join(repository, file))).map(({ target }) => target))
    expect(own).not.toEqual([])
    expect(targets.filter((target) => !/^(?:node:|\.\/)/.test(target))).toEqual([])
  })

  it.each(PACKAGES)('the built %s names no private package', (name) => {
    const dist = join(repository, 'packages', name, 'dist')
    const built = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(?:js|ts)$/.test(file))
    const naming = built.filter((file) => /['"]foldout-shared/.test(readFileSync(join(dist, file), 'utf8')))
    expect(naming).toEqual([])
    expect(readFileSync(join(repository, 'packages', name, 'package.json'), 'utf8')).not.toContain('foldout-shared')
  })

  it('no test reads a file outside the repository, or is skipped when a file is missing', () => {
    const tests = tracked.filter((file) => /\.(test|fixtures)\.ts$/.test(file) && existsSync(join(repository, file)))
    const outside = tests.filter((file) => {
      const text = readFileSync(join(repository, file), 'utf8')
      const depth = dirname(file).split('/').length
      return /\bskipIf\(\s*!\s*existsSync/.test(text) || text.includes(`'${'../'.repeat(depth + 1)}`)
    })
    expect(outside).toEqual([])
  })

  it('the repository has no leftovers from editors or merges', () => {
    expect(tracked.filter((file) => /\.(orig|rej|bak|swp|tmp)$|~$|(^|\/)\.DS_Store$/.test(file))).toEqual([])
  })
})
