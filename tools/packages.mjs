// What the packages have in common: their list, their metadata, and the documents they contain.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repository = fileURLToPath(new URL('..', import.meta.url))
export const PACKAGES = ['foldout', 'foldout-fleet', 'foldout-mcp']

/** Subpaths that differ from the name of their file. */
const SUBPATHS = new Map([
  ['index', '.'],
  // Named after its content, because entry names are unique across all packages.
  ['fleet', '.'],
  ['gateway', '.'],
  ['testing-suites', './testing/suites'],
])

/** Reads the metadata that all packages share. The repository's URL is set only there; until it is, no metadata has one. */
export function readProject() {
  return JSON.parse(readFileSync(join(repository, 'project.json'), 'utf8'))
}

/** The name of the gateway in the MCP registry, which derives the right to a name from the repository's owner. */
export function getServerName({ repository: address = '' }) {
  const [, owner, name] = /^https:\/\/github\.com\/([\w-]+)\/([\w.-]+)$/.exec(address) ?? []
  return owner === undefined ? undefined : `io.github.${owner}/${name}`
}

export function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** The public entries of a package: one for each file in src/entries. */
export function listEntries(folder) {
  const entries = join(folder, 'src/entries')
  if (!existsSync(entries)) return []
  return readdirSync(entries)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .sort()
    .map((file) => {
      const name = basename(file, '.ts')
      return { name, subpath: SUBPATHS.get(name) ?? `./${name}`, file: join(entries, file) }
    })
}

/** Completes package.json: `exports` from the entries, and URLs from the project. */
export function writeManifest(folder) {
  const file = join(folder, 'package.json')
  const before = readFileSync(file, 'utf8')
  const after = `${JSON.stringify(completeManifest(folder, JSON.parse(before)), null, 2)}\n`
  if (after !== before) writeFileSync(file, after)
}

export function completeManifest(folder, manifest, project = readProject()) {
  const entries = listEntries(folder).sort((a, b) => (a.subpath < b.subpath ? -1 : 1))
  const exports = entries.map(({ name, subpath }) => [
    subpath,
    { types: `./dist/types/entries/${name}.d.ts`, default: `./dist/${name}.js` },
  ])
  const complete = {
    ...manifest,
    author: project.author,
    ...getAddresses(basename(folder), project),
    exports: { ...Object.fromEntries(exports), './package.json': './package.json' },
  }
  const known = FIELDS.filter((field) => complete[field] !== undefined)
  const others = Object.keys(complete).filter((field) => !FIELDS.includes(field) && complete[field] !== undefined)
  return Object.fromEntries([...known, ...others].map((field) => [field, complete[field]]))
}

/** Undefined fields are left out of the file. */
function getAddresses(name, project) {
  const { repository: address } = project
  if (address === undefined) return { homepage: undefined, bugs: undefined, repository: undefined, mcpName: undefined }
  return {
    homepage: `${address}#readme`,
    bugs: { url: `${address}/issues` },
    repository: { type: 'git', url: `git+${address}.git`, directory: `packages/${name}` },
    mcpName: name === 'foldout-mcp' ? getServerName(project) : undefined,
  }
}

const FIELDS = [
  'name',
  'mcpName',
  'version',
  'description',
  'keywords',
  'homepage',
  'bugs',
  'license',
  'author',
  'repository',
  'bin',
  'files',
  'type',
  'sideEffects',
  'exports',
  'scripts',
  'dependencies',
  'devDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'engines',
]

/** npm packs these from the package's own folder. */
const DOCUMENTS = ['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'NOTICE']

export function writeDocuments(folder) {
  const project = readProject()
  for (const document of DOCUMENTS) {
    const source = join(repository, document)
    if (!existsSync(source) || isOwnReadme(folder, document)) continue
    const text = readFileSync(source, 'utf8')
    writeFileSync(join(folder, document), document.endsWith('.md') ? makeLinksAbsolute(text, project) : text)
  }
}

/** The repository's README is also the library's; the other packages have their own. */
function isOwnReadme(folder, document) {
  return document === 'README.md' && basename(folder) !== 'foldout'
}

/**
 * Makes links and pictures absolute, because relative ones do not work on npm. Without the repository's URL, a link becomes its text,
 * and a picture is left out.
 */
export function makeLinksAbsolute(text, { repository: address, branch }) {
  const resolve = (target, kind) => `${address}/${kind}/${branch}/${posix.normalize(target)}`
  const link = (picture, label, target) => {
    if (address === undefined) return picture ? '' : label
    return `${picture}[${label}](${resolve(target, picture ? 'raw' : 'blob')})`
  }
  const isRelative = (target) => !/^([a-z][a-z\d+.-]*:|#|\/)/i.test(target)
  return text
    .split(/(^```[^]*?^```$)/m)
    .map((part) => {
      if (part.startsWith('```')) return part
      return part
        .replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, picture, label, target) =>
          isRelative(target) ? link(picture, label, target) : whole,
        )
        .replace(/(<img\b[^>]*\bsrc=")([^"]+)("[^>]*>)/g, (whole, before, target, after) => {
          if (!isRelative(target)) return whole
          return address === undefined ? '' : `${before}${resolve(target, 'raw')}${after}`
        })
    })
    .join('')
}
