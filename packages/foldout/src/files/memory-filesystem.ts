import { FoldoutError } from '../core/errors.ts'
import {
  createTree,
  fileAt,
  filesBelow,
  isTree,
  nodeAt,
  without,
  withFile,
  type FileNode,
  type FileTree,
} from './file-tree.ts'
import { FilesystemError, type FileEntry, type Filesystem, type FilesystemTransaction } from './filesystem.ts'
import { isFolder, notFolder, notFound, rootRemoved } from './filesystem-faults.ts'
import { byPath, childPath, normalizePath } from './path.ts'

/**
 * Creates a filesystem in memory, from files by path. A tool call that fails leaves the files unchanged.
 *
 * @example
 * ```ts
 * import { createMemoryFilesystem } from 'foldout/files'
 *
 * const files = createMemoryFilesystem({ 'docs/guide.md': '# Guide' })
 * await files.write('docs/notes.md', 'A note')
 * ```
 */
export function createMemoryFilesystem(initial: Readonly<Record<string, string>> = {}): Filesystem {
  let tree = createTree(Object.entries(initial).map(([path, text]) => [normalizePath(path), getFile(text)]))
  return filesystemOver({
    tree: () => tree,
    replace(changed) {
      tree = changed
    },
    read: () => undefined,
  })
}

/** The storage of a filesystem, which also tracks reads and changes. */
interface Holder {
  tree(): FileTree
  replace(tree: FileTree, changed: Iterable<string>): void
  read(path: string): void
}

function filesystemOver(holder: Holder): Filesystem {
  // Async, so an invalid path rejects, as with host files.
  return {
    async read(path) {
      const at = normalizePath(path)
      const node = nodeAt(holder.tree(), at)
      if (node === undefined) throw notFound(at)
      if (isTree(node)) throw isFolder(at)
      holder.read(at)
      return node.text
    },
    async write(path, text) {
      const at = normalizePath(path)
      holder.replace(withFile(holder.tree(), at, getFile(text)), [at])
    },
    async list(folder) {
      const at = normalizePath(folder)
      const node = nodeAt(holder.tree(), at)
      if (node === undefined) throw notFound(at)
      if (!isTree(node)) throw notFolder(at)
      return [...node].map(([name, inner]) => getEntry(childPath(at, name), inner)).sort(byPath)
    },
    async stat(path) {
      const at = normalizePath(path)
      const node = nodeAt(holder.tree(), at)
      return node && getEntry(at, node)
    },
    async remove(path) {
      const at = normalizePath(path)
      if (at === '') throw rootRemoved()
      const node = nodeAt(holder.tree(), at)
      if (node === undefined) throw notFound(at)
      holder.replace(without(holder.tree(), at), filesBelow(node, at))
    },
    begin: () => transactionOn(holder),
  }
}

function transactionOn(outer: Holder): FilesystemTransaction {
  const before = outer.tree()
  let tree = before
  const changed = new Set<string>()
  const read = new Set<string>()
  let state: 'open' | 'committed' | 'abandoned' = 'open'
  function refuseEnded(what: string): void {
    if (state === 'open') return
    throw new FoldoutError('transaction-ended', `This transaction was already ${state}; ${what}`)
  }
  function refuseLost(path: string): void {
    const isLost = read.has(path) && fileAt(outer.tree(), path)?.text !== fileAt(before, path)?.text
    if (isLost) throw createConflictError(path)
  }
  const filesystem = filesystemOver({
    tree: () => tree,
    replace(replacement, paths) {
      refuseEnded('its files cannot be changed now. Change them in the outer filesystem.')
      tree = replacement
      for (const path of paths) changed.add(path)
    },
    read(path) {
      // After a change in this transaction, reads return its own text, which others cannot have changed.
      if (!changed.has(path)) read.add(path)
    },
  })
  return {
    filesystem,
    commit() {
      refuseEnded('it cannot be committed now.')
      for (const path of changed) refuseLost(path)
      const together = mergeChanges(outer.tree(), tree, changed)
      for (const path of read) outer.read(path)
      outer.replace(together, changed)
      state = 'committed'
    },
    abandon() {
      refuseEnded('it cannot be abandoned now.')
      state = 'abandoned'
    },
  }
}

/** Applies only the changed paths to the outer files, so changes by others are kept. */
function mergeChanges(outside: FileTree, inside: FileTree, changed: ReadonlySet<string>): FileTree {
  let tree = outside
  const written: [string, FileNode][] = []
  for (const path of changed) {
    const file = fileAt(inside, path)
    if (file) written.push([path, file])
    else if (fileAt(tree, path)) tree = without(tree, path)
  }
  // Runs after all removals, because a folder may replace a file.
  for (const [path, file] of written) tree = withFile(tree, path, file)
  return tree
}

function createConflictError(path: string): FilesystemError {
  return new FilesystemError(
    `'${path}' was changed by another call at the same time, so this change was not made. Read it again and repeat the change.`,
    { path, reason: 'failed' },
  )
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function getFile(text: string): FileNode {
  const bytes = encoder.encode(text)
  // Encoded and decoded, because a lone surrogate would not survive in a host file either.
  return { text: decoder.decode(bytes), size: bytes.length }
}

function getEntry(path: string, node: FileNode | FileTree): FileEntry {
  if (isTree(node)) return { path, kind: 'folder', size: 0 }
  return { path, kind: 'file', size: node.size }
}
