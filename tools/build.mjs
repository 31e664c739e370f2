// Builds each package's dist from scratch, so that files deleted from src do not stay in the package.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { rolldown } from 'rolldown'
import { listEntries, PACKAGES, readManifest, repository, writeDocuments, writeManifest } from './packages.mjs'

/** Written at the end of a complete build. */
const STAMP = join(repository, 'node_modules/.cache/foldout/built')
const LAST_BUILT = join(repository, 'packages/foldout-mcp/dist/page/index.html')
/** Each runs in its own thread, which loads a single file and nothing else from the library. */
const WORKERS = {
  'sandbox-worker': 'src/catalog/exposures/code/guest/worker.ts',
  'minilm-worker': 'src/catalog/search/minilm/worker.ts',
}
/** The shared chunks, each with the entries that load it. A module goes into the first chunk that matches. */
const CHUNKS = Object.entries({
  core: ['index or openai', 'catalog or search or results or minilm'],
  prompt: ['index', 'mcp'],
  agent: ['index'],
  catalog: ['catalog'],
  adapters: ['openai', 'anthropic'],
  hosts: ['langchain', 'mastra'],
  telemetry: ['telemetry', 'opentelemetry or node or compare'],
  files: ['files', 'node'],
})
/** Too small for files of their own: the server uses them, and comparisons or skills. */
const SMALL = {
  core: /\/src\/(?:core\/json\/measure|results\/fold-call-result)\.ts$/,
  prompt: /\/src\/sections\/skills\/(?:limits|metadata|front-matter|read-skill|skill-text)\.ts$/,
}
/** The entry point of the code that a catalog loads with its first search. */
const SEARCH = 'src/catalog/search/engine/search-index.ts'
/** The code for the first search is split into two files, so that compiling it does not block a process for long. */
const SEARCH_WORDS = /\/catalog\/search\/(?:text|lexical)\/|\/node_modules\/stemmer\//

if (process.argv.includes('--if-changed') && isUpToDate()) process.exit(0)

const shared = join(repository, 'packages/shared')
rmSync(join(shared, 'dist'), { recursive: true, force: true })
compileDeclarations(shared)
for (const name of PACKAGES) {
  const folder = join(repository, 'packages', name)
  writeManifest(folder)
  writeDocuments(folder)
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
}
await buildLibrary(join(repository, 'packages/foldout'))
await buildFleet(join(repository, 'packages/foldout-fleet'))
await buildProgram(join(repository, 'packages/foldout-mcp'))
await buildPage(join(repository, 'packages/foldout-mcp/page'))
if (!process.exitCode) {
  mkdirSync(dirname(STAMP), { recursive: true })
  writeFileSync(STAMP, '')
}

/** Whether no source has changed since the last build. A folder changes when a file in it is added or removed. */
function isUpToDate() {
  if (!existsSync(STAMP) || !existsSync(LAST_BUILT)) return false
  const built = statSync(STAMP).mtimeMs
  const sources = ['shared', ...PACKAGES].flatMap((name) => {
    const folder = join(repository, 'packages', name)
    const inside = readdirSync(join(folder, 'src'), { recursive: true }).map((path) => join(folder, 'src', path))
    const page = existsSync(join(folder, 'page'))
      ? readdirSync(join(folder, 'page'), { recursive: true }).map((path) => join(folder, 'page', path))
      : []
    return [...page, join(folder, 'src'), join(folder, 'package.json'), join(folder, 'tsconfig.build.json'), ...inside]
  })
  const common = ['tsconfig.base.json', 'project.json', 'tools/build.mjs', 'tools/packages.mjs', 'package-lock.json']
  return [...sources, ...common.map((file) => join(repository, file))]
    .filter((path) => existsSync(path))
    .every((path) => statSync(path).mtimeMs <= built)
}

async function buildLibrary(folder) {
  writeDeclarations(folder)
  await bundle(folder, Object.fromEntries(listEntries(folder).map(({ name, file }) => [name, file])), {
    chunkFileNames: 'shared-[name].js',
    codeSplitting: { groups: createGroups(folder) },
  })
  // Threads do not have to share classes.
  for (const [name, file] of Object.entries(WORKERS))
    await bundle(folder, { [name]: join(folder, file) }, { codeSplitting: false })
}

async function buildFleet(folder) {
  writeDeclarations(folder)
  await bundle(folder, Object.fromEntries(listEntries(folder).map(({ name, file }) => [name, file])), {}, 'node')
}

/** Builds the program and the public entries. */
async function buildProgram(folder) {
  writeDeclarations(folder)
  const entries = Object.fromEntries(listEntries(folder).map(({ name, file }) => [name, file]))
  await bundle(
    folder,
    { main: join(folder, 'src/cli/main.ts'), ...entries },
    { chunkFileNames: 'shared-[name].js', codeSplitting: { groups: createProgramGroups(folder) } },
    'node',
  )
  const worker = join(folder, 'src/gateway/results/thread/worker.ts')
  await bundle(folder, { 'results-worker': worker }, { codeSplitting: false })
}

/** Builds the inspector's page: static files that the program serves. */
async function buildPage(folder) {
  const { build } = await import('vite')
  await build({ root: folder, configFile: join(folder, 'vite.config.mjs'), logLevel: 'warn' })
}

/** Emits one declaration file per source file, so that editors show where a type comes from. */
function writeDeclarations(folder) {
  compileDeclarations(folder)
  includeShared(join(folder, 'dist/types'))
}

function compileDeclarations(folder) {
  const compiler = join(repository, 'node_modules/typescript/bin/tsc')
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: folder,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}

/** Users do not have the private package, so the declarations that name it get a copy of what they name. */
function includeShared(types) {
  const files = readdirSync(types, { recursive: true }).filter((file) => file.endsWith('.d.ts'))
  for (const file of files) {
    const before = readFileSync(join(types, file), 'utf8')
    const up = '../'.repeat(file.split(sep).length - 1) || './'
    const after = before.replaceAll(/(['"])foldout-shared\/([\w-]+)\1/g, (_whole, quote, name) => {
      mkdirSync(join(types, 'foldout-shared'), { recursive: true })
      copyFileSync(join(shared, 'dist/types', `${name}.d.ts`), join(types, 'foldout-shared', `${name}.d.ts`))
      return `${quote}${up}foldout-shared/${name}.ts${quote}`
    })
    if (after !== before) writeFileSync(join(types, file), after)
  }
}

/** All files are in one folder, so that a file finds another by name, whichever chunk its code ends up in. */
async function bundle(folder, input, output, platform = 'neutral') {
  const { name, dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = readManifest(folder)
  const packages = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
  const build = await rolldown({
    input,
    cwd: folder,
    platform,
    resolve: { mainFields: ['module', 'main'] },
    external: (id, importer) =>
      (id.startsWith('node:') && !isUnusedByCommander(id, importer)) ||
      packages.some((own) => id === own || id.startsWith(`${own}/`)),
    treeshake: { moduleSideEffects: false },
    plugins: [leaveWordVectors(name), leaveChildProcesses()],
    onLog(level, log) {
      if (level !== 'warn') return
      process.exitCode = 1
      console.error(log.message)
    },
  })
  await build.write({
    dir: join(folder, 'dist'),
    format: 'esm',
    entryFileNames: '[name].js',
    comments: { legal: true, annotation: true, jsdoc: false },
    ...output,
  })
  await build.close()
}

/** The vectors are imported by their public name, so that users can tell their bundler to leave them out. */
function leaveWordVectors(name) {
  return {
    name: 'leave-word-vectors',
    resolveId(source, importer) {
      const isLoader = importer?.endsWith('/vectors/vectors.ts') && source.endsWith('/packed-vectors.ts')
      return isLoader ? { id: `${name}/word-vectors`, external: true } : null
    },
  }
}

/** Commander starts commands that are programs of their own. `foldout` has none, and loading the module takes 5 ms. */
function isUnusedByCommander(id, importer) {
  return id === 'node:child_process' && importer?.includes('/node_modules/commander/')
}

function leaveChildProcesses() {
  const empty = '\0no-child-processes'
  return {
    name: 'leave-child-processes',
    resolveId: (source, importer) => (isUnusedByCommander(source, importer) ? empty : null),
    load: (id) => (id === empty ? 'export {}' : null),
  }
}

/**
 * Few files load faster than many, so the most used entries share a few chunks.
 * Every module is in exactly one file, so that all entries share classes and module state.
 */
function createGroups(folder) {
  const reached = new Map()
  const reachesOne = (entry, id, context) => {
    const file = entry === 'search' ? SEARCH : `src/entries/${entry}.ts`
    if (!reached.has(entry)) reached.set(entry, findReached(join(folder, file), context))
    return reached.get(entry).has(id)
  }
  const reaches = (entries, id, context) => entries.split(' or ').some((entry) => reachesOne(entry, id, context))
  const common = CHUNKS.map(([name, entries], i) => ({
    debugName: name,
    priority: CHUNKS.length - i,
    name(id, context) {
      if (SMALL[name]?.test(id)) return name
      return entries.every((entry) => reaches(entry, id, context)) ? name : null
    },
  }))
  return [...common, { name: 'search-words', priority: 0, test: SEARCH_WORDS }]
}

/** A start of the gateway loads two files instead of twenty: finding and reading a small file takes as long as compiling it. */
function createProgramGroups(folder) {
  const reached = new Map()
  const starts = { main: 'src/cli/main.ts', serve: 'src/cli/gateway/serve.ts' }
  return Object.entries(starts).map(([name, file], i) => ({
    debugName: name,
    priority: 2 - i,
    name(id, context) {
      if (!reached.has(name)) reached.set(name, findReached(join(folder, file), context))
      return reached.get(name).has(id) ? `${name}-parts` : null
    },
  }))
}

function findReached(entry, context) {
  const reached = new Set([entry])
  for (const id of reached) {
    for (const next of context.getModuleInfo(id)?.importedIds ?? []) reached.add(next)
  }
  return reached
}
