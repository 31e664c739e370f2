import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, normalize } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { completeManifest } from '../tools/packages.mjs'
import fleetJson from '../packages/foldout-fleet/package.json' with { type: 'json' }
import programJson from '../packages/foldout-mcp/package.json' with { type: 'json' }
import packageJson from '../packages/foldout/package.json' with { type: 'json' }

const repository = join(import.meta.dirname, '..')
const root = join(repository, 'packages/foldout')
const entries = Object.entries(packageJson.exports).filter(([, target]) => typeof target !== 'string') as [
  string,
  { types: string; default: string },
][]

/** Every package that a compiled file reaches through static imports. */
function packagesReachedFrom(file: string, seen = new Set<string>(), packages = new Set<string>()): Set<string> {
  if (seen.has(file)) return packages
  seen.add(file)
  for (const match of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export)\s(?:[\w\s{},*$]+\sfrom\s)?['"]([^'"]+)['"]/gm,
  )) {
    const target = match[1]!
    // Declarations name the source files that they were made from.
    const next = normalize(join(dirname(file), file.endsWith('.d.ts') ? target.replace(/\.ts$/, '.d.ts') : target))
    if (target.startsWith('.')) packagesReachedFrom(next, seen, packages)
    else packages.add(target)
  }
  return packages
}
const isBuiltin = (name: string): boolean => name.startsWith('node:') || builtinModules.includes(name)

describe('exports', () => {
  beforeAll(() => {
    expect(existsSync(join(root, 'dist/index.js')), 'Run `npm run build` first.').toBe(true)
  })

  it.each(entries)('%s leads to files that exist', (_, { types, default: file }) => {
    expect(existsSync(join(root, types))).toBe(true)
    expect(existsSync(join(root, file))).toBe(true)
  })

  it("are the files of src/entries, and package.json has the repository's address", () => {
    expect(completeManifest(root, packageJson)).toEqual(packageJson)
  })

  it('the root entry imports no Node built-ins, and only its dependencies', () => {
    const packages = [...packagesReachedFrom(join(root, 'dist/index.js'))]
    expect(packages.filter(isBuiltin)).toEqual([])
    const names = packages.map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    )
    expect(names.filter((name) => !(name in packageJson.dependencies))).toEqual([])
  })

  it.each([
    ['gpt-tokenizer', 'gpt-tokenizer'],
    ['libsql', 'libsql'],
    ['openai', 'openai'],
    ['anthropic', '@anthropic-ai/sdk'],
    ['claude-agent', '@anthropic-ai/claude-agent-sdk'],
    ['ai-sdk', 'ai'],
    ['mcp', '@modelcontextprotocol/client'],
    ['code', 'quickjs-wasi'],
    ['skills', 'yaml'],
  ])('%s loads its peer only when it is used', (entry, name) => {
    expect([...packagesReachedFrom(join(root, 'dist', `${entry}.js`))]).not.toContain(name)
  })

  it('serving over MCP needs no package', () => {
    const folder = join(root, 'dist')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'))
    const text = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n')
    expect(files.length).toBeGreaterThan(10)
    expect(text).not.toContain('@modelcontextprotocol/server')
  })

  it('the root entry exports the listed names', async () => {
    expect(Object.keys(await import('foldout')).sort()).toMatchInlineSnapshot(`
      [
        "AdapterError",
        "FoldoutError",
        "LimitReachedError",
        "OutputParseError",
        "PromptRenderError",
        "PromptValidationError",
        "RunAbortedError",
        "VisibilityExpansionRequired",
        "agentRun",
        "bySearch",
        "contextFiles",
        "createCachedCounter",
        "createMemoryStore",
        "createSession",
        "defineParams",
        "definePrompt",
        "defineSection",
        "defineSlice",
        "defineTool",
        "estimatedTokens",
        "evaluatePrompt",
        "executeTool",
        "fail",
        "fromJsonSchema",
        "getRunState",
        "md",
        "ok",
        "openOrRead",
        "openSections",
        "openSession",
        "parseOutput",
        "readSection",
        "runAgent",
        "streamAgent",
      ]
    `)
  })

  it.each([
    ['foldout', packageJson],
    ['foldout-fleet', fleetJson],
    ['foldout-mcp', programJson],
  ])('every dependency of %s has a row in docs/decisions/dependencies.md', (_, manifest) => {
    const { dependencies, peerDependencies = {} } = manifest as {
      readonly dependencies: object
      readonly peerDependencies?: object
    }
    const decisions = readFileSync(join(repository, 'docs/decisions/dependencies.md'), 'utf8')
    const names = [...Object.keys(dependencies), ...Object.keys(peerDependencies)]
    expect(names.filter((name) => !decisions.includes(`\`${name}\``))).toEqual([])
  })

  it('the declarations of foldout-mcp import only what is installed with it', () => {
    const folder = join(repository, 'packages/foldout-mcp')
    const names = [...packagesReachedFrom(join(folder, programJson.exports['.'].types))].filter(
      (name) => !isBuiltin(name),
    )
    expect(names).toContain('foldout/catalog')
    const installed = Object.keys({ ...programJson.dependencies, ...programJson.optionalDependencies })
    expect(names.filter((name) => !installed.some((own) => `${name}/`.startsWith(`${own}/`)))).toEqual([])
  })

  it('all packages have the same version, and depend on that version', () => {
    expect([fleetJson.version, programJson.version]).toEqual([packageJson.version, packageJson.version])
    expect(fleetJson.peerDependencies.foldout).toBe(packageJson.version)
    expect(programJson.peerDependencies['foldout-fleet']).toBe(packageJson.version)
    expect(programJson.dependencies.foldout).toBe(packageJson.version)
    expect(completeManifest(join(repository, 'packages/foldout-mcp'), programJson)).toEqual(programJson)
  })
})
