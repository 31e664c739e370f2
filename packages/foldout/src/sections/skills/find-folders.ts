import { ignore } from '../../core/promises.ts'
import type { FileEntry, Filesystem } from '../../files/filesystem.ts'
import { byPath } from '../../files/path.ts'
import { MAX_SKILL_FOLDER_DEPTH, MAX_SKILL_FOLDERS, SKILLS_READ_TOGETHER } from './limits.ts'

/** A folder with a `SKILL.md`. */
export interface FoundFolder {
  readonly path: string
  /** The name of the file, however it is capitalized. */
  readonly file: string
}

const SKIPPED = new Set(['.git', 'node_modules'])

/** Whether a folder never belongs to a skill. */
export function isSkipped(path: string): boolean {
  return SKIPPED.has(path.slice(path.lastIndexOf('/') + 1))
}

/**
 * Finds the folders with a `SKILL.md`, level by level. What is inside such a folder belongs to the skill. Links lead to
 * skills, but are not searched, so the search always ends.
 */
export async function findFolders(
  files: Filesystem,
  root: string,
  warn: (message: string) => void,
): Promise<readonly FoundFolder[]> {
  const found: FoundFolder[] = []
  const start = await files.list(root)
  let level: readonly FileEntry[] = take(root, start, false)
  let searched = 1
  for (let depth = 0; level.length > 0 && depth < MAX_SKILL_FOLDER_DEPTH; depth++) {
    const next: FileEntry[] = []
    for (let from = 0; from < level.length; from += SKILLS_READ_TOGETHER) {
      const batch = level.slice(from, from + SKILLS_READ_TOGETHER)
      const lists = await Promise.all(batch.map((folder) => ignore(files.list(folder.path), 'it cannot be read')))
      for (const [at, entries] of lists.entries()) {
        const folder = batch[at]
        if (folder && entries) next.push(...take(folder.path, entries, folder.link === true))
      }
    }
    searched += level.length
    if (searched + next.length > MAX_SKILL_FOLDERS) {
      warn(`More than ${MAX_SKILL_FOLDERS} folders; skills deeper than ${depth + 1} levels are not found.`)
      break
    }
    level = next
  }
  return found.sort(byPath)

  /** Keeps a folder with a skill, or returns the folders in it. */
  function take(path: string, entries: readonly FileEntry[], isLink: boolean): readonly FileEntry[] {
    const skill = entries.find(({ path: at, kind }) => kind === 'file' && /(^|\/)skill\.md$/i.test(at))
    if (skill) found.push({ path, file: skill.path.slice(skill.path.lastIndexOf('/') + 1) })
    if (skill || isLink) return []
    return entries.filter((entry) => entry.kind === 'folder' && !isSkipped(entry.path))
  }
}
