import { isCode, isMissing } from 'foldout-shared/error-codes'
import { randomUUID } from 'node:crypto'
import { statSync, type Stats } from 'node:fs'
import { link, mkdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { retryIfInUse } from 'foldout-shared/in-use'

/** Replaces a file atomically: a reader sees the old text or the new one. Only the user can read it. */
export async function replaceFile(file: string, text: string): Promise<void> {
  await withDraft(file, text, (draft) => retryIfInUse(() => rename(draft, file)))
}

/** Creates a file atomically. Returns whether it is new; another process may have been first. */
export async function createFile(file: string, text: string): Promise<boolean> {
  return withDraft(file, text, async (draft) => {
    try {
      await link(draft, file)
      return true
    } catch (error) {
      if (isCode(error, 'EEXIST')) return false
      throw error
    }
  })
}

async function withDraft<Value>(file: string, text: string, place: (draft: string) => Promise<Value>): Promise<Value> {
  const draft = `${file}.${process.pid}.${randomUUID()}.tmp`
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  try {
    await writeFile(draft, text, { mode: 0o600 })
    return await place(draft)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Removes a file. Returns whether this call removed it: of several simultaneous calls, one gets true. */
export async function takeFile(file: string): Promise<boolean> {
  try {
    // Not with `rm`, which also succeeds if another process was faster.
    await retryIfInUse(() => unlink(file))
    return true
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false
    throw error
  }
}

/** The JSON in a file; undefined if there is no file. */
export async function readJson(file: string, maxBytes: number): Promise<unknown> {
  try {
    const { size } = await stat(file)
    if (size > maxBytes) throw new Error(`${file} is too large.`)
    return JSON.parse(await readFile(file, 'utf8')) as unknown
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** What is at a path; undefined if there is nothing. `throwIfNoEntry` alone does not help if a part of the path is a file. */
export function findStats(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
