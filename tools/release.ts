// Releases all packages from one version: `npm run release -- [--dry-run]`. A dry run does everything except publish and tag. The tag is
// last, and what a release that failed has published already is left as it is, so that the same command completes it.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { packBundle } from './bundle/pack.ts'
import { createServerJson } from './metadata.ts'
import { PACKAGES, readManifest, readProject, repository } from './packages.mjs'

interface Step {
  readonly name: string
  /** Returns what prevents a release, or undefined if nothing does. */
  readonly check: () => string | Later | undefined
}

/** What a dry run may lack, but a release may not. */
interface Later {
  readonly later: string
}

interface Packed {
  readonly filename: string
  readonly size: number
  readonly integrity: string
  readonly files: readonly { readonly path: string; readonly size: number }[]
}

const REQUIRED = ['LICENSE', 'README.md', 'CHANGELOG.md', 'package.json']

function main(): void {
  const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })
  const isDry = values['dry-run']
  const folder = mkdtempSync(join(tmpdir(), 'foldout-release-'))
  try {
    const version = getVersion()
    const packed = new Map<string, Packed>()
    const problems = runSteps([
      { name: `all packages are ${version}`, check: checkVersions },
      { name: 'the changelog has a section for it', check: () => checkChangelog(version, isDry) },
      { name: 'the tag is free', check: () => checkTag(version) },
      { name: 'nothing is uncommitted', check: checkTree },
      { name: "the repository's URL is set", check: () => checkAddress(isDry) },
      { name: 'the packages build', check: () => run('node', ['tools/build.mjs']) },
      { name: 'the build changed no tracked file', check: checkTree },
      { name: 'publint and attw have no complaints', check: () => run('node', ['tools/check-packages.mjs']) },
      { name: 'the tarballs contain what they should', check: () => checkTarballs(packed, folder) },
      { name: 'the MCP bundle is packed and valid', check: () => checkBundle(packed, folder) },
      { name: 'server.json of the MCP registry is written', check: () => checkServerJson(folder, isDry) },
    ])
    if (problems > 0) {
      console.log(`\n${problems} of these prevent a release.`)
      process.exitCode = 1
    } else if (isDry)
      console.log(`\nReady. Without --dry-run, this comes next:\n${describePublishing(version).join('\n')}`)
    else publish(version, packed, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runSteps(steps: readonly Step[]): number {
  const problems = steps.filter(({ name, check }) => {
    const problem = check()
    console.log(formatStep(name, problem))
    return typeof problem === 'string'
  })
  return problems.length
}

function formatStep(name: string, problem: string | Later | undefined): string {
  if (problem === undefined) return `ok    ${name}`
  const [label, reason] = typeof problem === 'string' ? ['STOP ', problem] : ['later', problem.later]
  return `${label} ${name}\n      ${reason.replaceAll('\n', '\n      ')}`
}

function getFolder(name: string): string {
  return join(repository, 'packages', name)
}

function getVersion(): string {
  return String(readManifest(getFolder('foldout'))['version'])
}

function checkVersions(): string | undefined {
  const manifests = PACKAGES.map((name) => readManifest(getFolder(name)))
  const versions = new Set(manifests.map(({ version }) => version))
  if (versions.size > 1) return `They are ${[...versions].map(String).join(' and ')}. Give all packages one version.`
  const needed = (readManifest(getFolder('foldout-mcp'))['dependencies'] as Record<string, string>)['foldout']
  return needed === getVersion() ? undefined : `foldout-mcp depends on foldout ${needed ?? 'not at all'}.`
}

/** `## 0.1.0` begins a section; before the release it may say `(unreleased)`. */
function checkChangelog(version: string, isDry: boolean): string | undefined {
  const changelog = readFileSync(join(repository, 'CHANGELOG.md'), 'utf8')
  const [, title, body = ''] = changelog.split(/^## (.+)$/m)
  if (!title?.startsWith(version)) return `Its first section is '${title ?? ''}'. Begin one with '## ${version}'.`
  if (body.trim() === '') return 'The section is empty.'
  const isOpen = title.includes('unreleased')
  return isOpen && !isDry ? `Write the date of the release in place of '${title}'.` : undefined
}

function checkTag(version: string): string | undefined {
  return git(['tag', '--list', `v${version}`]) === ''
    ? undefined
    : `The tag v${version} already exists. Raise the version.`
}

function checkTree(): string | undefined {
  const changes = git(['status', '--porcelain'])
  return changes === '' ? undefined : changes
}

/** A dry run may come before the URL is known; a release may not. */
function checkAddress(isDry: boolean): string | Later | undefined {
  if (readProject().repository !== undefined) return undefined
  const problem = 'project.json has no "repository". Write its URL there and run npm run build.'
  return isDry ? { later: problem } : problem
}

function checkTarballs(packed: Map<string, Packed>, destination: string): string | undefined {
  const problems = PACKAGES.flatMap((name) => {
    const one = pack(name, destination)
    packed.set(name, one)
    console.log(`      ${one.filename}: ${one.files.length} files, ${toKilobytes(one.size)}`)
    for (const line of listContent(one)) console.log(`        ${line}`)
    return findTarballProblems(name, one)
  })
  return problems.length === 0 ? undefined : problems.join('\n')
}

/** Every file of the package's root, and the folders with the number and the size of what is in them. */
function listContent({ files }: Packed): readonly string[] {
  const groups = new Map<string, { count: number; size: number }>()
  for (const { path, size } of files) {
    const parts = path.split('/')
    const name = parts.length === 1 ? path : `${parts.slice(0, Math.min(2, parts.length - 1)).join('/')}/`
    const group = groups.get(name) ?? { count: 0, size: 0 }
    groups.set(name, { count: group.count + 1, size: group.size + size })
  }
  return [...groups].map(
    ([name, { count, size }]) => `${name} (${count === 1 ? '' : `${count} files, `}${toKilobytes(size)})`,
  )
}

function toKilobytes(bytes: number): string {
  return `${Math.round(bytes / 1_000).toLocaleString('en')} kB`
}

/** The gateway's bundle has the library in it, from the same tarballs. */
function checkBundle(packed: ReadonlyMap<string, Packed>, folder: string): string | undefined {
  const needed = ['foldout', 'foldout-mcp'].flatMap((name) => packed.get(name)?.filename ?? [])
  try {
    const file = packBundle(
      needed.map((name) => join(folder, name)),
      folder,
    )
    console.log(`      ${basename(file)}: ${toKilobytes(statSync(file).size)}`)
    return undefined
  } catch (error) {
    return String(error)
  }
}

function checkServerJson(folder: string, isDry: boolean): string | Later | undefined {
  const server = createServerJson(readProject(), readManifest(getFolder('foldout-mcp')))
  if (server) {
    writeFileSync(join(folder, 'server.json'), JSON.stringify(server, null, 2))
    return undefined
  }
  const problem =
    'The MCP registry derives the name of a server from its repository on GitHub, which project.json does not have.'
  return isDry ? { later: problem } : problem
}

function pack(name: string, destination: string): Packed {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination]
  const stdout = execFileSync('npm', args, {
    cwd: getFolder(name),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [packed] = JSON.parse(stdout) as readonly Packed[]
  if (!packed) throw new Error(`npm packed nothing of ${name}.`)
  return packed
}

function findTarballProblems(name: string, { files }: Packed): readonly string[] {
  const paths = new Set(files.map(({ path }) => path))
  const shared = ['SECURITY.md', 'NOTICE'].filter((file) => existsSync(join(repository, file)))
  const missing = [...REQUIRED, ...shared].filter((file) => !paths.has(file)).map((file) => `${name} has no ${file}.`)
  const superfluous = [...paths].filter((path) => /\.(test|fixtures)\.|(^|\/)src\//.test(path))
  const readme = readFileSync(join(getFolder(name), 'README.md'), 'utf8')
  const relative = [...readme.matchAll(/\]\((?!https?:|#|mailto:)([^)\s]+)\)/g)].map(([, target = '']) => target)
  return [
    ...missing,
    ...superfluous.map((path) => `${name} should not have ${path}.`),
    ...relative.map((target) => `The README of ${name} links to ${target}, which npm does not have.`),
  ]
}

function describePublishing(version: string): readonly string[] {
  return [
    ...PACKAGES.map((name) => `      npm publish ${name}-${version}.tgz, with provenance in the workflow`),
    `      mcp-publisher publish server.json, if mcp-publisher is installed`,
    `      git tag v${version}, last`,
  ]
}

function publish(version: string, packed: ReadonlyMap<string, Packed>, folder: string): void {
  for (const name of PACKAGES) {
    const one = packed.get(name)
    if (!one) throw new Error(`${name} was not packed.`)
    const published = getPublished(name, version)
    if (published === one.integrity) {
      console.log(`${name} ${version} is published already.`)
      continue
    }
    if (published !== undefined)
      throw new Error(`npm has ${name} ${version} with other content. Raise the version of all packages.`)
    // npm proves where a package was built only in a workflow.
    const provenance = process.env['GITHUB_ACTIONS'] === 'true' ? ['--provenance'] : []
    const args = ['publish', join(folder, one.filename), '--access', 'public', ...provenance]
    execFileSync('npm', args, { stdio: 'inherit' })
  }
  const { error, status } = spawnSync('mcp-publisher', ['publish', join(folder, 'server.json')], { stdio: 'inherit' })
  if (error) console.log('mcp-publisher is not installed: publish server.json to the MCP registry yourself.')
  else if (status !== 0) throw new Error('mcp-publisher failed; its message is above. Run npm run release again.')
  git(['tag', '--annotate', `v${version}`, '--message', `v${version}`])
  console.log(`\nPublished. Push the tag: git push origin v${version}`)
}

/** The hash of what npm has of a version; undefined if it has none. */
function getPublished(name: string, version: string): string | undefined {
  const { status, stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], { encoding: 'utf8' })
  const integrity = stdout.trim()
  return status === 0 && integrity !== '' ? integrity : undefined
}

function run(command: string, args: readonly string[]): string | undefined {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: repository, encoding: 'utf8' })
  return status === 0 ? undefined : `${stdout}${stderr}`.trim()
}

function git(args: readonly string[]): string {
  return execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim()
}

main()
