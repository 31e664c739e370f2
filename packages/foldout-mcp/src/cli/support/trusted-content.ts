import { realpathSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { findStats } from '../../shared/files.ts'
import { UsageError } from '../../gateway/config/config.ts'
import { MAX_IMPORTED_FILES } from '../../gateway/config/limits.ts'
import { readTextFile } from '../../gateway/config/text-file.ts'
import { isCode } from '../../gateway/config/read-config.ts'
import { hashText } from '../../shared/hash.ts'

/**
 * Where a file is, in the folder's real path. If the file is a link, this is not where it leads: its relative paths start in the folder
 * that it is in, so a folder with a link to a file that the user trusts elsewhere could run anything.
 */
export async function findPlace(file: string): Promise<string> {
  return join(await realpath(dirname(resolve(file))), basename(file))
}

/** A program is what it imports, too: a pull could change only that. */
export async function hashContent(path: string, text: string): Promise<string> {
  if (!isCode(path)) return hashText(text)
  return hashText(JSON.stringify(await readImportedTexts(path, text)))
}

/** Any text in quotes that is a relative path: files are also named to `require`, `import()` and `new URL`. */
const RELATIVE_PATH = /(["'`])(\.\.?\/(?:(?!\1)[^\\\n]){1,500})\1/g

const EXTENSIONS = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json']
const PROGRAMS: ReadonlySet<string> = new Set(EXTENSIONS.slice(0, -1))

/**
 * The text of a program, and of all files that it names by relative paths: what runs is not only what the first file says. Files of
 * `node_modules`, and paths that a program computes, are not included.
 *
 * @throws UsageError if there are too many, or one is too large.
 */
async function readImportedTexts(file: string, text: string): Promise<readonly string[]> {
  const texts = new Map([[resolve(file), text]])
  // A map goes through what is added on the way.
  for (const [path, content] of texts) {
    if (!PROGRAMS.has(extname(path))) continue
    for (const named of findNamedFiles(path, content)) {
      if (texts.has(named)) continue
      if (texts.size > MAX_IMPORTED_FILES)
        throw new UsageError(
          `${file} imports more than ${MAX_IMPORTED_FILES} files, so what it does cannot be checked.`,
        )
      texts.set(named, await readTextFile(named))
    }
  }
  const folder = dirname(resolve(file))
  return Array.from(texts, ([path, content]) => `${relative(folder, path)}\n${content}`)
}

function findNamedFiles(path: string, text: string): readonly string[] {
  // Of a link, some loaders start from where it is, and others from where it leads.
  const folders = [...new Set([path, realpathSync(path)].map(dirname))]
  const named = Array.from(text.matchAll(RELATIVE_PATH), ([, , found = '']) => found)
  const paths = folders.flatMap((folder) => named.map((one) => resolve(folder, one)))
  return [...new Set(paths)].flatMap((one) => listMeant(one).filter((file) => findStats(file)?.isFile()))
}

/** What a path may mean: the file itself, one with an extension, the source of a built file, or the index of a folder. */
function listMeant(path: string): readonly string[] {
  const bare = path.replace(/\.([cm]?)jsx?$/, '')
  return [
    path,
    ...EXTENSIONS.map((extension) => `${path}${extension}`),
    ...(bare === path ? [] : EXTENSIONS.map((extension) => `${bare}${extension}`)),
    ...EXTENSIONS.map((extension) => join(path, `index${extension}`)),
  ].filter((one, at, all) => all.indexOf(one) === at)
}
