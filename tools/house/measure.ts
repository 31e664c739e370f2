import { dirname } from 'node:path'
import { listPublicExports, type PublicExport } from './exports.ts'
import { countSyntax, type ClassSize, type NamedFunction } from './functions.ts'
import { findCycles, findPackageImports, findTwoWayFolders, type FolderPair } from './graph.ts'
import { findRepeated, type RepeatedFunction } from './repeated.ts'
import { endsInOf, isParticiple } from './names.ts'
import { getDynamicTargets, getImportTargets, isEntry, isSuite, resolveImport, type Source } from './sources.ts'

export const LONG_FUNCTION = 80
export const LONG_FILE = 400
export const SMALL_FILE = 60
export const LARGE_FOLDER = 15
export const LARGE_CLASS = { lines: 250, fields: 12, methods: 20 }
/** The official SDK of MCP. The packages load it only for people who bring one of its objects. */
const MCP_SDK = '@modelcontextprotocol/'

interface Sized {
  readonly path: string
  readonly lines: number
}

interface EntrySize {
  readonly entry: string
  readonly values: number
  readonly types: number
}

/** What `npm run house` prints. */
export interface House {
  readonly files: number
  readonly lines: number
  readonly longestFile: Sized
  readonly longFiles: readonly Sized[]
  readonly medianFile: number
  readonly functions: { readonly count: number; readonly p50: number; readonly p90: number }
  readonly longFunctions: readonly NamedFunction[]
  readonly nonNull: PerFile
  readonly ternaries: PerFile
  readonly silentCatches: PerFile
  /** Classes over one of the limits of `LARGE_CLASS`. */
  readonly largeClasses: readonly ClassSize[]
  /** Functions that are written in several places. */
  readonly repeated: readonly RepeatedFunction[]
  readonly twoWayFolders: readonly FolderPair[]
  readonly cycles: readonly (readonly string[])[]
  /** Files that load the MCP SDK at run time. */
  readonly sdkImports: readonly string[]
  /** Named functions by the kind of name they should not have. */
  readonly named: {
    readonly count: number
    readonly ofs: readonly NamedFunction[]
    readonly participles: readonly NamedFunction[]
  }
  readonly entries: readonly EntrySize[]
  readonly publicExports: number
  readonly undocumented: readonly PublicExport[]
  readonly withoutExample: readonly PublicExport[]
  readonly smallFiles: readonly (Sized & { readonly importer: string })[]
  readonly largeFolders: readonly { readonly path: string; readonly files: number }[]
}

interface PerFile {
  readonly count: number
  readonly perKiloLine: number
  /** Files with the most first. */
  readonly files: readonly { readonly path: string; readonly count: number }[]
}

/** Measures the sources below a folder. Importers and re-exports are looked up in all sources. */
export function measureHouse(all: readonly Source[], under = ''): House {
  const sources = all.filter(({ path }) => path.startsWith(under))
  if (sources.length === 0) throw new Error(`There are no source files below '${under}'.`)
  const counted = sources.map((source) => ({ path: source.path, ...countSyntax(source) }))
  const lines = sources.reduce((sum, source) => sum + source.lines, 0)
  const functions = counted.filter(({ path }) => !isSuite(path)).flatMap((file) => file.functions)
  const lengths = functions.map((item) => item.lines)
  const named = functions.filter(({ name }) => name !== '')
  const exports = removeRepeated(listPublicExports(all)).filter(({ path }) => path.startsWith(under))
  return {
    files: sources.length,
    lines,
    longestFile: getLongest(sources),
    longFiles: sources.filter(({ lines }) => lines > LONG_FILE).map(({ path, lines }) => ({ path, lines })),
    medianFile: getQuantile(
      sources.map((source) => source.lines),
      0.5,
    ),
    functions: { count: functions.length, p50: getQuantile(lengths, 0.5), p90: getQuantile(lengths, 0.9) },
    longFunctions: functions.filter((item) => item.lines > LONG_FUNCTION).sort((a, b) => b.lines - a.lines),
    nonNull: sumUp(
      counted.map(({ path, nonNull }) => ({ path, count: nonNull })),
      lines,
    ),
    ternaries: sumUp(
      counted.map(({ path, ternaries }) => ({ path, count: ternaries })),
      lines,
    ),
    silentCatches: sumUp(
      counted.map(({ path, silentCatches }) => ({ path, count: silentCatches })),
      lines,
    ),
    largeClasses: counted.flatMap(({ classes }) => classes).filter(isLargeClass),
    repeated: findRepeated(sources),
    twoWayFolders: findTwoWayFolders(sources),
    cycles: findCycles(sources),
    sdkImports: findPackageImports(sources, MCP_SDK),
    named: {
      count: named.length,
      ofs: named.filter(({ name }) => endsInOf(name)),
      participles: named.filter(({ name }) => isParticiple(name)),
    },
    entries: measureEntries(listPublicExports(all)),
    publicExports: exports.length,
    undocumented: exports.filter(({ hasDoc }) => !hasDoc),
    withoutExample: exports.filter(({ hasExample }) => !hasExample),
    smallFiles: findSmallFiles(all).filter(({ path }) => path.startsWith(under)),
    largeFolders: findLargeFolders(sources),
  }
}

function isLargeClass({ lines, fields, methods }: ClassSize): boolean {
  return lines > LARGE_CLASS.lines || fields > LARGE_CLASS.fields || methods > LARGE_CLASS.methods
}

function getLongest(sources: readonly Source[]): Sized {
  const longest = sources.reduce((a, b) => (b.lines > a.lines ? b : a))
  return { path: longest.path, lines: longest.lines }
}

function getQuantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function sumUp(files: PerFile['files'], lines: number): PerFile {
  const count = files.reduce((sum, file) => sum + file.count, 0)
  return {
    count,
    perKiloLine: Number(((count * 1_000) / lines).toFixed(1)),
    files: files.filter((file) => file.count > 0).sort((a, b) => b.count - a.count),
  }
}

/** One row per declaration: a name that two entries export needs only one comment. */
function removeRepeated(exports: readonly PublicExport[]): readonly PublicExport[] {
  return [...new Map(exports.map((item) => [`${item.path}#${item.name}`, item])).values()]
}

function measureEntries(exports: readonly PublicExport[]): readonly EntrySize[] {
  return [...groupBy(exports, ({ entry }) => entry)].map(([entry, names]) => {
    const values = names.filter(({ kind }) => kind === 'value').length
    return { entry, values, types: names.length - values }
  })
}

/** From how many files of one folder an importer counts as a list of them. */
const LISTED = 5

/** How many files of a folder a file imports from outside of it. */
function countImported(importers: ReadonlyMap<string, ReadonlySet<string>>, importer: string, folder: string): number {
  if (dirname(importer) === folder) return 0
  return [...importers].filter(([path, by]) => dirname(path) === folder && by.has(importer)).length
}

/**
 * Finds small files with one importer, which may belong in the importer. A file that is one of several in a list does not: its
 * importer takes at least five files of the same folder, such as stages or commands. An entry does not count as an importer, and a file that is
 * loaded on demand has to be separate.
 */
function findSmallFiles(sources: readonly Source[]): House['smallFiles'] {
  const importers = new Map<string, Set<string>>()
  const lazy = new Set(
    sources.flatMap((source) => getDynamicTargets(source).map((target) => resolveImport(source.path, target))),
  )
  for (const source of sources) {
    for (const target of getImportTargets(source)) {
      const path = resolveImport(source.path, target)
      if (path !== undefined) importers.set(path, (importers.get(path) ?? new Set()).add(source.path))
    }
  }
  return (
    sources
      // Limits have their own file in every room, however few there are.
      .filter(({ path, lines }) => lines < SMALL_FILE && !path.endsWith('/limits.ts'))
      .filter(({ path }) => !isEntry(path) && !lazy.has(path))
      .flatMap(({ path, lines }) => {
        const [importer, second] = importers.get(path) ?? []
        return importer === undefined || second !== undefined || isEntry(importer) ? [] : [{ path, lines, importer }]
      })
      .filter(({ path, importer }) => countImported(importers, importer, dirname(path)) < LISTED)
  )
}

function findLargeFolders(sources: readonly Source[]): House['largeFolders'] {
  const folders = [...groupBy(sources, ({ path }) => dirname(path))]
  return folders
    .filter(([path, files]) => files.length > LARGE_FOLDER && !path.endsWith('/src/entries'))
    .map(([path, files]) => ({ path, files: files.length }))
}

/** `Map.groupBy`, which Node 20 does not have. */
function groupBy<Item>(items: readonly Item[], getKey: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = getKey(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
