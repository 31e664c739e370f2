import { dirname } from 'node:path'
import { getDynamicTargets, resolveImport, type Source } from './sources.ts'

/** Two folders next to each other that import each other, with one import in each direction. */
export interface FolderPair {
  readonly folders: readonly [string, string]
  readonly examples: readonly [string, string]
}

interface Import {
  readonly from: string
  readonly to: string
}

/** Every import between sources, including types. */
function listImports(sources: readonly Source[]): readonly Import[] {
  const known = new Set(sources.map(({ path }) => path))
  return sources.flatMap((source) =>
    [...new Set(getTargets(source))].flatMap((target) => {
      const to = resolveImport(source.path, target)
      return to !== undefined && known.has(to) && to !== source.path ? [{ from: source.path, to }] : []
    }),
  )
}

function getTargets(source: Source): readonly string[] {
  const { staticImports, staticExports } = source.module
  const exported = staticExports.flatMap(({ entries }) => entries.flatMap(({ moduleRequest }) => moduleRequest ?? []))
  return [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...exported.map(({ value }) => value),
    ...getDynamicTargets(source),
  ]
}

/**
 * Finds folders of one parent that import each other, and folders that import a file of their parent although that
 * parent's files import them. Both make a circle that a reader has to hold in the head at once.
 */
export function findTwoWayFolders(sources: readonly Source[]): readonly FolderPair[] {
  const directions = new Map<string, string>()
  for (const { from, to } of listImports(sources)) {
    const pair = getSiblings(from, to)
    if (pair && !directions.has(pair.join(' → '))) directions.set(pair.join(' → '), `${from} → ${to}`)
  }
  return [...directions].flatMap(([key, example]) => {
    const [a = '', b = ''] = key.split(' → ')
    const back = directions.get(`${b} → ${a}`)
    return a < b && back !== undefined ? [{ folders: [a, b], examples: [example, back] } as const] : []
  })
}

/** The folders below the nearest common folder of two files. A file directly in that folder stands for `<folder>/.`. */
function getSiblings(from: string, to: string): readonly [string, string] | undefined {
  const a = dirname(from).split('/')
  const b = dirname(to).split('/')
  let depth = 0
  while (depth < a.length && a[depth] === b[depth]) depth += 1
  if (depth === a.length && depth === b.length) return undefined
  const common = a.slice(0, depth).join('/')
  return [`${common}/${a[depth] ?? '.'}`, `${common}/${b[depth] ?? '.'}`]
}

/** Finds groups of files that reach each other by imports, including imports of types. The largest group is first. */
export function findCycles(sources: readonly Source[]): readonly (readonly string[])[] {
  const targets = new Map<string, string[]>(sources.map(({ path }) => [path, []]))
  for (const { from, to } of listImports(sources)) targets.get(from)?.push(to)
  return findComponents(targets)
    .filter(({ length }) => length > 1)
    .sort((a, b) => b.length - a.length)
}

interface Visit {
  readonly index: number
  low: number
  isOpen: boolean
}

/** The strongly connected components of a graph (Tarjan). */
function findComponents(targets: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const visits = new Map<string, Visit>()
  const stack: string[] = []
  const components: (readonly string[])[] = []
  const enter = (path: string): Visit => {
    const visit: Visit = { index: visits.size, low: visits.size, isOpen: true }
    visits.set(path, visit)
    stack.push(path)
    for (const target of targets.get(path) ?? []) {
      const seen = visits.get(target)
      if (!seen) visit.low = Math.min(visit.low, enter(target).low)
      else if (seen.isOpen) visit.low = Math.min(visit.low, seen.index)
    }
    if (visit.low === visit.index) components.push(close(path))
    return visit
  }
  const close = (path: string): readonly string[] => {
    const members = stack.splice(stack.indexOf(path))
    for (const member of members) {
      const visit = visits.get(member)
      if (visit) visit.isOpen = false
    }
    return members.sort()
  }
  for (const path of targets.keys()) if (!visits.has(path)) enter(path)
  return components
}

/** The files that load a package at run time whose name begins as given. */
export function findPackageImports(sources: readonly Source[], prefix: string): readonly string[] {
  return sources.filter((source) => getRuntimeTargets(source).some((name) => name.startsWith(prefix))).map(getPath)
}

function getRuntimeTargets(source: Source): readonly string[] {
  const { staticImports, staticExports } = source.module
  const imported = staticImports.filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
  const exported = staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, isType }) => (moduleRequest && !isType ? [moduleRequest.value] : [])),
  )
  return [...imported.map(({ moduleRequest }) => moduleRequest.value), ...exported, ...getDynamicTargets(source)]
}

function getPath({ path }: Source): string {
  return path
}
