import { basename } from 'node:path'
import { isEntry, resolveImport, type Source } from './sources.ts'

/** A name that users of a package can import. */
export interface PublicExport {
  readonly entry: string
  readonly name: string
  readonly kind: 'value' | 'type'
  /** Where it is declared. */
  readonly path: string
  readonly hasDoc: boolean
  readonly hasExample: boolean
  /** The code of its `@example` blocks. */
  readonly examples: readonly string[]
}

type Sources = ReadonlyMap<string, Source>
type Export = Source['module']['staticExports'][number]['entries'][number]

/** Every export of every entry. A name that two entries export is listed twice. */
export function listPublicExports(sources: readonly Source[]): readonly PublicExport[] {
  const byPath: Sources = new Map(sources.map((source) => [source.path, source]))
  return sources.filter(({ path }) => isEntry(path)).flatMap((entry) => listExports(entry, byPath))
}

function listExports(entry: Source, sources: Sources): readonly PublicExport[] {
  return getExports(entry).flatMap((item) => {
    const target = item.moduleRequest && resolveImport(entry.path, item.moduleRequest.value)
    const from = target === null || target === undefined ? undefined : sources.get(target)
    if (isStar(item)) return from ? rename(listExports(from, sources), entry) : []
    const name = item.exportName.name ?? 'default'
    const declared = findDeclaration(entry, name, sources)
    const kind = item.isType || declared?.isType === true ? 'type' : 'value'
    const doc = declared?.doc ?? ''
    const isForeign = declared?.isForeign === true
    const path = declared?.path ?? item.moduleRequest?.value ?? entry.path
    const examples = readExamples(doc)
    return [
      {
        entry: getEntryName(entry),
        name,
        kind,
        path,
        hasDoc: isForeign || doc !== '',
        hasExample: isForeign || examples.length > 0,
        examples,
      } as const,
    ]
  })
}

function rename(exports: readonly PublicExport[], entry: Source): readonly PublicExport[] {
  return exports.map((item) => ({ ...item, entry: getEntryName(entry) }))
}

function getEntryName({ path }: Source): string {
  return basename(path, '.ts')
}

function getExports({ module }: Source): readonly Export[] {
  return module.staticExports.flatMap(({ entries }) => entries)
}

/** `export * from …`. The parser's enum of kinds has no values at run time. */
function isStar({ importName }: Export): boolean {
  const kind: string = importName.kind
  return kind === 'AllButDefault'
}

/** The code of each `@example` in a doc comment, with or without a fence around it. */
function readExamples(doc: string): readonly string[] {
  const text = doc.replaceAll(/^[ \t]*\* ?/gm, '')
  return text
    .split(/^@example\b[ \t]*/m)
    .slice(1)
    .map((part) => {
      const fenced = /```\w*\n([\s\S]*?)\n```/.exec(part)
      return fenced?.[1] ?? part.split(/^@\w+/m)[0]?.trim() ?? ''
    })
}

interface Declaration {
  readonly path: string
  readonly isType: boolean
  readonly doc: string
  /** Whether another package declares the name, and so documents it. */
  readonly isForeign?: boolean
}

/** Follows re-exports, including those through an import, to the file that declares a name. */
function findDeclaration(source: Source, name: string, sources: Sources): Declaration | undefined {
  const item = getExports(source).find(({ exportName }) => exportName.name === name)
  if (item?.moduleRequest) {
    return findIn(source, item.moduleRequest.value, item.importName.name ?? name, sources)
  }
  const local = item?.localName.name ?? name
  const own = findStatement(source, local)
  if (own) return own
  for (const { moduleRequest, entries } of source.module.staticImports) {
    const imported = entries.find(({ localName }) => localName.value === local)
    if (imported) return findIn(source, moduleRequest.value, imported.importName.name ?? local, sources)
  }
  for (const star of getExports(source).filter(isStar)) {
    const found = star.moduleRequest && findIn(source, star.moduleRequest.value, name, sources)
    if (found) return found
  }
  return undefined
}

function findIn(source: Source, target: string, name: string, sources: Sources): Declaration | undefined {
  const path = resolveImport(source.path, target)
  if (path === undefined) return { path: target, isType: false, doc: '', isForeign: true }
  const next = sources.get(path)
  return next && findDeclaration(next, name, sources)
}

const TYPES = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration'])

/** The first documented top-level declaration of a name: any of several overloads may have the comment. */
function findStatement(source: Source, name: string): Declaration | undefined {
  const found = source.program.body.flatMap((statement) => {
    const declaration =
      statement.type === 'ExportNamedDeclaration' && statement.declaration ? statement.declaration : statement
    if (!getDeclaredNames(declaration).includes(name)) return []
    return [{ path: source.path, isType: TYPES.has(declaration.type), doc: getDoc(source, statement.start) }]
  })
  return found.find(({ doc }) => doc !== '') ?? found[0]
}

function getDeclaredNames(statement: Source['program']['body'][number]): readonly string[] {
  if (statement.type === 'VariableDeclaration') {
    return statement.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
  }
  const { id } = statement as { id?: { readonly type: string; readonly name?: string } | null }
  return id?.type === 'Identifier' && id.name !== undefined ? [id.name] : []
}

/** The doc comment right before a statement. */
function getDoc({ text, comments }: Source, start: number): string {
  const before = comments.findLast(({ end }) => end <= start)
  if (before?.type !== 'Block' || !before.value.startsWith('*')) return ''
  return text.slice(before.end, start).trim() === '' ? before.value : ''
}
