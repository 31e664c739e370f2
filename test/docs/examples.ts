// Writes the `@example` blocks of all public exports as modules that can be compiled and run.
//
// - `expression // => value` asserts the value of the expression.
// - Public names that an example uses but does not declare are imported from their entry.
// - Other names come from `preambles/examples-<entry>.ts` or `preambles/examples.ts`.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listPublicExports, type PublicExport } from '../../tools/house/exports.ts'
import { readSources } from '../../tools/house/sources.ts'
import { listEntries, PACKAGES } from '../../tools/packages.mjs'
import { addChecks, isDeclared, readExports } from './snippets.ts'

const repository = join(import.meta.dirname, '../..')
const generated = join(import.meta.dirname, 'generated/examples')
const preambles = join(import.meta.dirname, 'preambles')

/** The public exports of every package; a name that two entries export is listed once for each. */
export function readPublicExports(): readonly PublicExport[] {
  return listPublicExports(readSources(repository))
}

/** An example of a public export, and the module that holds it. */
export interface Example {
  /** `entry: export`, with a number if it is not the first. */
  readonly title: string
  readonly file: string
  readonly code: string
}

/** The examples of every export. One that several entries export is listed for one of them. */
export function listExamples(exports: readonly PublicExport[]): readonly Example[] {
  const declared = new Map(exports.map((item) => [`${item.path}#${item.name}`, item]))
  return [...declared.values()].flatMap((item) =>
    item.examples.map((code, at) => {
      // A type and a value may have names that differ by case alone.
      const suffix = at === 0 ? '' : `-${at + 1}`
      const file = join(generated, `${item.entry}-${item.kind}-${item.name}${suffix}.ts`)
      return { title: `${item.entry}: ${item.name}${suffix}`, file, code: toModule(code, item, exports) }
    }),
  )
}

/** Writes every example as a module. */
export function writeExamples(examples: readonly Example[]): void {
  rmSync(generated, { recursive: true, force: true })
  mkdirSync(generated, { recursive: true })
  for (const { file, code } of examples) writeFileSync(file, code)
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
      .map(([name, { file, isType }]) => `import ${isType ? 'type ' : ''}{ ${name} } from '../../preambles/${file}'`),
    ...[...imports.values()].map(
      ({ kind, name, entry }) => `import ${kind === 'type' ? 'type ' : ''}{ ${name} } from '${getSpecifier(entry)}'`,
    ),
    addChecks(code),
    'export {}',
    '',
  ].join('\n')
}

/** The names that examples of an entry may use, with the file that each comes from. */
function readPreambles(entry: string): ReadonlyMap<string, { readonly file: string; readonly isType: boolean }> {
  const files = ['examples.ts', `examples-${entry}.ts`].filter((file) => existsSync(join(preambles, file)))
  return new Map(
    files.flatMap((file) => {
      const text = readFileSync(join(preambles, file), 'utf8')
      return readExports(join(preambles, file)).map((name) => {
        const isType = new RegExp(`^export (type|interface) ${name}\\b`, 'm').test(text)
        return [name, { file, isType }] as const
      })
    }),
  )
}

const specifiers = new Map(
  PACKAGES.flatMap((owner) =>
    listEntries(join(repository, 'packages', owner)).map(({ name, subpath }) => [name, subpath.replace('.', owner)]),
  ),
)

function getSpecifier(entry: string): string {
  return specifiers.get(entry) ?? `foldout/${entry}`
}
