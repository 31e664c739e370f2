// Releases both packages: `npm run release -- [--dry-run]`. A dry run does everything except write, commit, tag and publish.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { hasPlaceholder, PACKAGES, readManifest, readProject, repository } from './packages.mjs'

interface Step {
  readonly name: string
  /** Returns what prevents a release, or undefined if nothing does. */
  readonly check: () => string | undefined
}

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

const REQUIRED = ['LICENSE', 'README.md', 'CHANGELOG.md', 'package.json']

function main(): void {
  const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })
  const isDry = values['dry-run']
  const folder = mkdtempSync(join(tmpdir(), 'foldout-release-'))
  try {
    const version = getVersion()
    const problems = runSteps([
      { name: `both packages are ${version}`, check: checkVersions },
      { name: 'the changelog has a section for it', check: () => checkChangelog(version, isDry) },
      { name: 'the tag is free', check: () => checkTag(version) },
      { name: 'nothing is uncommitted', check: checkTree },
      { name: "the repository's URL is set", check: () => checkAddress(isDry) },
      { name: 'the packages build', check: () => run('node', ['tools/build.mjs']) },
      { name: 'the build changed no tracked file', check: checkTree },
      { name: 'publint and attw have no complaints', check: () => run('node', ['tools/check-packages.mjs']) },
      { name: 'the tarballs contain what they should', check: () => checkTarballs(folder) },
    ])
    if (problems > 0) {
      console.log(`\n${problems} of these prevent a release.`)
      process.exitCode = 1
    } else if (isDry)
      console.log(`\nReady: without --dry-run this tags v${version} and publishes ${PACKAGES.join(' and ')}.`)
    else publish(version, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runSteps(steps: readonly Step[]): number {
  const problems = steps.filter(({ name, check }) => {
    const problem = check()
    console.log(
      problem === undefined ? `ok    ${name}` : `STOP  ${name}\n      ${problem.replaceAll('\n', '\n      ')}`,
    )
    return problem !== undefined
  })
  return problems.length
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
function checkAddress(isDry: boolean): string | undefined {
  const project = readProject()
  if (!hasPlaceholder(project)) return undefined
  const problem = `project.json still has ${project.repository}. Write the real URL there and run npm run build.`
  if (!isDry) return problem
  console.log(`later ${problem}`)
  return undefined
}

function checkTarballs(destination: string): string | undefined {
  const problems = PACKAGES.flatMap((name) => {
    const packed = pack(name, destination)
    console.log(`      ${packed.filename}: ${packed.files.length} files, ${Math.round(packed.size / 1_000)} kB`)
    return findTarballProblems(name, packed)
  })
  return problems.length === 0 ? undefined : problems.join('\n')
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

function publish(version: string, folder: string): void {
  git(['tag', '--annotate', `v${version}`, '--message', `v${version}`])
  for (const name of PACKAGES) {
    execFileSync('npm', ['publish', join(folder, `${name}-${version}.tgz`), '--access', 'public'], { stdio: 'inherit' })
  }
  console.log(`\nPublished. Push the tag: git push origin v${version}`)
}

function run(command: string, args: readonly string[]): string | undefined {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: repository, encoding: 'utf8' })
  return status === 0 ? undefined : `${stdout}${stderr}`.trim()
}

function git(args: readonly string[]): string {
  return execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim()
}

main()
