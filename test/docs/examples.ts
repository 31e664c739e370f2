// Writes the `@example` blocks of all public exports as modules, so that one run of the compiler can check them.
//
// - Public names that an example uses and does not declare are imported from their entry.
// - Other names come from `preambles/examples-<entry>.ts` or `preambles/examples.ts`.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listPublicExports, type PublicExport } from '../../tools/house/exports.ts'
import { readSources } from '../../tools/house/sources.ts'
import { listEntries } from '../../tools/packages.mjs'
import { isDeclared, readExports } from './snippets.ts'

const repository = join(import.meta.dirname, '../..')
const generated = join(import.meta.dirname, 'generated/examples')
const preambles = join(import.meta.dirname, 'preambles')

/** The public exports of every package; a name that two entries export is listed once for each. */
export function readPublicExports(): readonly PublicExport[] {
  return listPublicExports(readSources(repository))
}

/** Writes every example as a module named after its entry and export. Returns the number of examples. */
export function writeExamples(exports: readonly PublicExport[]): number {
  rmSync(generated, { recursive: true, force: true })
  mkdirSync(generated, { recursive: true })
  const declared = new Map(exports.map((item) => [`${item.path}#${item.name}`, item]))
  let count = 0
  for (const item of declared.values()) {
    for (const [at, code] of item.examples.entries()) {
      const file = `${item.entry}-${item.name}${at === 0 ? '' : `-${at + 1}`}.ts`
      writeFileSync(join(generated, file), toModule(code, item, exports))
      count += 1
    }
  }
  return count
}

function toModule(code: string, item: PublicExport, exports: readonly PublicExport[]): string {
  const isNeeded = (word: string): boolean =>
    new RegExp(`(?<![\\w'])(?<!(?<!\\.\\.)\\.)${word}\\b`).test(code) && !isDeclared(word, code)
  const given = readPreambles(item.entry)
  const imports = new Map<string, PublicExport>()
  // The example's own entry first, then the root, then the others.
  const order = [item.entry, 'index']
  const getRank = ({ entry }: PublicExport): number => (order.includes(entry) ? order.indexOf(entry) : order.length)
  for (const found of exports.toSorted((one, other) => getRank(one) - getRank(other))) {
    if (!imports.has(found.name) && !given.has(found.name) && isNeeded(found.name)) imports.set(found.name, found)
  }
  return [
    `// From ${item.path}. Do not edit.`,
    ...[...given]
      .filter(([name]) => isNeeded(name))
      .map(([name, file]) => `import { ${name} } from '../../preambles/${file}'`),
    ...[...imports.values()].map(
      ({ kind, name, entry }) => `import ${kind === 'type' ? 'type ' : ''}{ ${name} } from '${getSpecifier(entry)}'`,
    ),
    code,
    'export {}',
    '',
  ].join('\n')
}

/** The names that examples of an entry may use, with the file that each comes from. */
function readPreambles(entry: string): ReadonlyMap<string, string> {
  const files = ['examples.ts', `examples-${entry}.ts`].filter((file) => existsSync(join(preambles, file)))
  return new Map(files.flatMap((file) => readExports(join(preambles, file)).map((name) => [name, file] as const)))
}

const specifiers = new Map(
  listEntries(join(repository, 'packages/foldout')).map(({ name, subpath }) => [name, subpath.replace('.', 'foldout')]),
)

function getSpecifier(entry: string): string {
  return specifiers.get(entry) ?? `foldout/${entry}`
}
