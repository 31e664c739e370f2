import { belowFile, isFolder } from './filesystem-faults.ts'
import { getAncestors, getParts } from './path.ts'

export interface FileNode {
  readonly text: string
  /** The size in bytes of UTF-8. */
  readonly size: number
}
/** Immutable: a change creates a new tree that shares the unchanged parts. */
export type FileTree = ReadonlyMap<string, FileNode | FileTree>

const EMPTY_TREE: FileTree = new Map()

export function isTree(node: FileNode | FileTree): node is FileTree {
  return node instanceof Map
}

export function nodeAt(tree: FileTree, path: string): FileNode | FileTree | undefined {
  let node: FileNode | FileTree | undefined = tree
  for (const part of getParts(path)) {
    if (node === undefined || !isTree(node)) return undefined
    node = node.get(part)
  }
  return node
}

export function fileAt(tree: FileTree, path: string): FileNode | undefined {
  const node = nodeAt(tree, path)
  if (node === undefined || isTree(node)) return undefined
  return node
}

/** Returns the tree with a file added. Throws if a folder has that path, or if the path leads through a file. */
export function withFile(tree: FileTree, path: string, file: FileNode): FileTree {
  const there = nodeAt(tree, path)
  if (there !== undefined && isTree(there)) throw isFolder(path)
  const inTheWay = getAncestors(path).find((ancestor) => fileAt(tree, ancestor))
  if (inTheWay !== undefined) throw belowFile(path, inTheWay)
  return replaceNode(tree, getParts(path), file)
}

/** Creates a tree of many files at once. Adding them one by one would copy their folder each time. */
export function createTree(files: readonly (readonly [path: string, file: FileNode])[]): FileTree {
  const tree = new Map<string, FileNode | FileTree>()
  for (const [path, file] of files) {
    const parts = getParts(path)
    const name = parts.pop()
    if (name === undefined) throw isFolder(path)
    let folder = tree
    for (const [depth, part] of parts.entries()) {
      let inner = folder.get(part)
      if (inner === undefined) folder.set(part, (inner = new Map()))
      if (!isTree(inner)) throw belowFile(path, parts.slice(0, depth + 1).join('/'))
      folder = inner as Map<string, FileNode | FileTree>
    }
    const there = folder.get(name)
    if (there !== undefined && isTree(there)) throw isFolder(path)
    folder.set(name, file)
  }
  return tree
}

/** Returns the tree without the file or folder at a path, and without the folders that this leaves empty. */
export function without(tree: FileTree, path: string): FileTree {
  return replaceNode(tree, getParts(path), undefined)
}

function replaceNode(tree: FileTree, parts: readonly string[], node: FileNode | undefined): FileTree {
  const [part, ...rest] = parts
  const copy = new Map(tree)
  if (part === undefined) return copy
  const inner = tree.get(part)
  let changed: FileNode | FileTree | undefined = node
  if (rest.length > 0) {
    const folder = replaceNode(inner !== undefined && isTree(inner) ? inner : EMPTY_TREE, rest, node)
    if (folder.size > 0) changed = folder
    else changed = undefined
  }
  if (changed) copy.set(part, changed)
  else copy.delete(part)
  return copy
}

/** Lists the paths of all files at or below a path. */
export function* filesBelow(node: FileNode | FileTree, path: string): Generator<string> {
  if (!isTree(node)) {
    yield path
    return
  }
  for (const [name, inner] of node) yield* filesBelow(inner, path === '' ? name : `${path}/${name}`)
}
