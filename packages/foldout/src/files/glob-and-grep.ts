import picomatch from 'picomatch'
import { getErrorMessage } from '../core/errors.ts'
import { beginning, counted, defineFileTool, getLines, withoutLastSlash } from './file-tool.ts'
import { FilesystemError, type FileEntry, type Filesystem } from './filesystem.ts'
import { notFound } from './filesystem-faults.ts'
import { byPath, normalizePath } from './path.ts'
import { fail, ok } from '../tools/result.ts'

const MOST_PATHS = 1000
const MOST_MATCHES = 200
const LONGEST_LINE = 10_000
const LONGEST_SHOWN_LINE = 500
const LARGEST_FILE = 10_000_000

export const globTool = defineFileTool<{ readonly pattern: string }>({
  name: 'glob',
  description:
    "Finds files by their paths. Gives the paths of all files that a pattern matches, sorted; '.hidden' ones too.",
  properties: {
    pattern: {
      type: 'string',
      description:
        "Matched against whole paths from the root: '*' and '?' stand for characters other than '/', '**' for any folders, '{a,b}' for either, '[a-z]' for one of some. '**/*.ts' finds every TypeScript file, '*.ts' only those in the root.",
    },
  },
  required: ['pattern'],
  async run({ pattern }, files, { signal }) {
    const matches = pathMatcher(pattern)
    if (!matches) return fail(unusable(pattern))
    const folder = normalizePath(pattern.startsWith('/') ? pattern : plainFolders(pattern))
    const isThere = (await files.stat(folder))?.kind === 'folder'
    const paths = (isThere ? await filesIn(files, folder, signal) : [])
      .map((file) => file.path)
      .filter((path) => matches(path))
    if (paths.length === 0) return ok(`No file matches '${pattern}'.`, paths)
    const lines = paths.slice(0, MOST_PATHS)
    if (paths.length > MOST_PATHS)
      lines.push('', `(The first ${MOST_PATHS} of ${paths.length} files. Narrow the pattern to see the others.)`)
    return ok(lines.join('\n'), paths)
  },
})

interface GrepInput {
  readonly pattern: string
  readonly path?: string
  readonly glob?: string
  readonly ignore_case?: boolean
}

/** One line that matched. */
interface GrepMatch {
  readonly path: string
  readonly line: number
  readonly text: string
}

export const grepTool = defineFileTool<GrepInput>({
  name: 'grep',
  description: `Searches the lines of files for a regular expression. Gives 'path:line: text' for each line that matches, at most ${MOST_MATCHES}. Files that are no text are passed over.`,
  properties: {
    pattern: {
      type: 'string',
      description: "A JavaScript regular expression without slashes around it, as in 'function \\w+'.",
    },
    path: {
      type: 'string',
      description: 'The file or folder to search in, relative to the root. Default: all files.',
    },
    glob: {
      type: 'string',
      description:
        "Only files whose path from the root matches, as in 'src/**/*.ts'; a pattern without '/', such as '*.ts', matches in every folder.",
    },
    ignore_case: { type: 'boolean', description: 'Takes capital and small letters as the same. Default: false.' },
  },
  required: ['pattern'],
  async run({ pattern, path = '', glob, ignore_case }, files, { signal }) {
    let expression: RegExp
    try {
      expression = new RegExp(pattern, ignore_case ? 'i' : '')
    } catch (error) {
      return fail(`${getErrorMessage(error)}. Put a backslash before characters that stand for themselves.`)
    }
    const matches = glob === undefined ? () => true : pathMatcher(inEveryFolder(glob))
    if (!matches) return fail(unusable(glob!))
    const found = await filesAt(files, normalizePath(withoutLastSlash(path)), signal)
    const search: Search = { expression, matches: [], isMore: false, longLines: 0, largeFiles: 0 }
    for (const file of found) {
      if (search.isMore) break
      if (matches(file.path)) await searchFile(search, files, file)
      signal.throwIfAborted()
    }
    return ok(formatReport(search), search.matches)
  },
})

interface Search {
  readonly expression: RegExp
  readonly matches: GrepMatch[]
  /** Whether there are matches beyond those kept. */
  isMore: boolean
  longLines: number
  largeFiles: number
}

async function searchFile(search: Search, files: Filesystem, file: FileEntry): Promise<void> {
  if (file.size > LARGEST_FILE) {
    search.largeFiles += 1
    return
  }
  const text = await unlessRefused(files.read(file.path))
  for (const [index, raw] of getLines(text ?? '').entries()) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    if (line.length > LONGEST_LINE) {
      // A regular expression that runs cannot be stopped: it only gets what is short.
      search.longLines += 1
    } else if (search.expression.test(line)) {
      search.isMore = search.matches.length === MOST_MATCHES
      if (search.isMore) return
      search.matches.push({ path: file.path, line: index + 1, text: line })
    }
  }
}

function formatReport({ matches, isMore, longLines, largeFiles }: Search): string {
  const lines = matches.map(({ path, line, text }) => {
    const shown = beginning(text, LONGEST_SHOWN_LINE)
    return `${path}:${line}: ${shown}${shown.length < text.length ? '…' : ''}`
  })
  if (lines.length === 0) lines.push('No line matches.')
  const notes: string[] = []
  if (isMore) notes.push(`(The first ${MOST_MATCHES} matches. Narrow the pattern, the path or the glob to see others.)`)
  if (longLines > 0) notes.push(`(Not searched: ${counted(longLines, 'line')} longer than ${LONGEST_LINE} characters.)`)
  if (largeFiles > 0) notes.push(`(Not searched: ${counted(largeFiles, 'file')} larger than ${LARGEST_FILE} bytes.)`)
  if (notes.length > 0) lines.push('', ...notes)
  return lines.join('\n')
}

/** The file at a path, or all files below a folder, sorted. */
async function filesAt(files: Filesystem, path: string, signal: AbortSignal): Promise<readonly FileEntry[]> {
  const entry = await files.stat(path)
  if (!entry) throw notFound(path)
  return entry.kind === 'file' ? [entry] : filesIn(files, path, signal)
}

async function filesIn(files: Filesystem, folder: string, signal: AbortSignal): Promise<FileEntry[]> {
  const found: FileEntry[] = []
  const folders = [folder]
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    signal.throwIfAborted()
    for (const entry of (await unlessRefused(files.list(next))) ?? []) {
      if (entry.kind === 'file') found.push(entry)
      else if (!entry.link) folders.push(entry.path)
    }
  }
  return found.sort(byPath)
}

/** One file or folder that is gone meanwhile or cannot be read shall not spoil a search of all the others. */
async function unlessRefused<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof FilesystemError) return undefined
    throw error
  }
}

const MOST_GLOBSTARS = 3
const MOST_STARS = 4

/** A test for paths, or `undefined` for a pattern that cannot be used. */
function pathMatcher(pattern: string): ((path: string) => boolean) | undefined {
  const parts = pattern.split('/')
  const globstars = parts.filter((part) => part === '**').length
  const stars = Math.max(...parts.map((part) => part.match(/\*+/g)?.length ?? 0))
  // The time a pattern takes grows with the length of a path to the power of its stars.
  if (pattern === '' || pattern.length > 1024 || globstars > MOST_GLOBSTARS || stars > MOST_STARS) return undefined
  // Left as they are, these would be parts of a regular expression, and 'app/(home)/page.tsx' would not match itself.
  const literal = pattern.replaceAll(/\\.|[()|+]/g, (found) => (found.length === 1 ? `\\${found}` : found))
  const matches = picomatch(literal, { dot: true, posix: true, windows: false })
  return (path) => matches(path)
}

function unusable(pattern: string): string {
  return pattern === ''
    ? "The pattern is empty. Give one such as '**/*.ts'."
    : `'${beginning(pattern, 100)}' is too complicated a pattern. Use at most ${MOST_STARS} '*' between two '/' and ${MOST_GLOBSTARS} '**'.`
}

function inEveryFolder(pattern: string): string {
  if (pattern === '' || pattern.includes('/')) return pattern
  return pattern.startsWith('!') ? `!**/${pattern.slice(1)}` : `**/${pattern}`
}

/** The folders a pattern begins with before anything in it can vary: only there can its matches be. */
function plainFolders(pattern: string): string {
  const folders = pattern.split('/').slice(0, -1)
  const varying = folders.findIndex((folder) => /[*?[\]{}!\\"]/.test(folder))
  return folders.slice(0, varying === -1 ? folders.length : varying).join('/')
}
