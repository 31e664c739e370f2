import { cutText, formatCount } from '../../core/text.ts'
import { compilePattern, type LinearPattern } from '../../core/pattern/pattern.ts'
import { TIME_SLICE_MS } from '../../core/limits.ts'
import { fail, ok, type ToolResult } from '../result.ts'
import { defineFileTool, withoutLastSlash } from './file-tool.ts'
import { FilesystemError, type FileEntry, type Filesystem } from '../../files/filesystem.ts'
import { notFound } from '../../files/filesystem-faults.ts'
import { createPathMatcher } from '../../files/glob.ts'
import {
  MAX_GLOB_PATHS,
  MAX_GREP_BYTES,
  MAX_GREP_FILE_BYTES,
  MAX_GREP_LINE,
  MAX_GREP_LINE_STEPS,
  MAX_GREP_MATCHES,
  MAX_GREP_SHOWN,
  MAX_WALKED_FILES,
} from '../../files/limits.ts'
import { byPath, normalizePath } from '../../files/path.ts'
import { showLine, showPath } from '../../files/show-path.ts'

export const globTool = defineFileTool<{ readonly pattern: string }>({
  name: 'glob',
  description:
    "Finds files by their paths. Returns the sorted paths of all files that match a pattern, including '.hidden' ones.",
  properties: {
    pattern: {
      type: 'string',
      description:
        "Matched against whole paths from the root: '*' and '?' match characters other than '/', '**' any folders, '{a,b}' either text, '[a-z]' one of these characters. '**/*.ts' finds every TypeScript file, '*.ts' only those in the root.",
    },
  },
  required: ['pattern'],
  async run({ pattern }, files, { signal }) {
    const matches = createPathMatcher(pattern)
    if (!matches) return fail(describeUnusable(pattern))
    const pause = createTimeSlices(signal)
    const folder = normalizePath(pattern.startsWith('/') ? pattern : getPlainFolders(pattern))
    const isThere = (await files.stat(folder))?.kind === 'folder'
    const walk = isThere ? await walkFiles(files, folder, signal) : NOTHING
    const paths: string[] = []
    for (const { path } of walk.files) {
      if (matches(path)) paths.push(path)
      await pause()
    }
    const lines = paths.length === 0 ? [`No file matches '${pattern}'.`] : paths.slice(0, MAX_GLOB_PATHS).map(showPath)
    const notes: string[] = []
    if (paths.length > MAX_GLOB_PATHS)
      notes.push(`(The first ${MAX_GLOB_PATHS} of ${paths.length} files. Narrow the pattern to see the others.)`)
    if (walk.isCut) notes.push(describeCutWalk('pattern'))
    if (notes.length > 0) lines.push('', ...notes)
    return ok(lines.join('\n'), paths)
  },
})

interface GrepInput {
  readonly pattern: string
  readonly path?: string
  readonly glob?: string
  readonly ignore_case?: boolean
}

/** A matching line. */
interface GrepMatch {
  readonly path: string
  readonly line: number
  readonly text: string
}

export const grepTool = defineFileTool<GrepInput>({
  name: 'grep',
  description: `Searches the lines of files for a regular expression. Returns 'path:line: text' for each matching line, at most ${MAX_GREP_MATCHES}. Files that are not text are skipped.`,
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
    ignore_case: {
      type: 'boolean',
      description: 'Ignores the difference between uppercase and lowercase. Default: false.',
    },
  },
  required: ['pattern'],
  run: (input, files, { signal }) => grep(input, files, signal),
})

async function grep(input: GrepInput, files: Filesystem, signal: AbortSignal): Promise<ToolResult> {
  const { path = '', glob } = input
  const compiled = compilePattern(input.pattern, { ignoreCase: input.ignore_case ?? false })
  if ('problem' in compiled) return fail(describeUnusablePattern(compiled))
  const matches = glob === undefined ? () => true : createPathMatcher(inEveryFolder(glob))
  if (!matches) return fail(describeUnusable(glob ?? ''))
  const walk = await findFiles(files, normalizePath(withoutLastSlash(path)), signal)
  const search = new LineSearch(compiled.pattern, signal)
  for (const file of walk.files) {
    if (search.isMore) break
    if (matches(file.path)) await search.searchFile(files, file)
    signal.throwIfAborted()
  }
  return ok(search.formatReport(walk.isCut), search.matches)
}

function describeUnusablePattern({
  problem,
  message,
}: {
  readonly problem: 'invalid' | 'unsupported'
  readonly message: string
}): string {
  if (problem === 'invalid') return `${message}. Put a backslash before characters that should match literally.`
  return `The pattern ${message}, which grep does not support. Use a simpler pattern.`
}

/** Searches one file after another, in time slices, and counts the lines and files that it leaves out. */
class LineSearch {
  readonly matches: GrepMatch[] = []
  /** Whether there are more matches than were kept. */
  isMore = false
  private longLines = 0
  private largeFiles = 0
  private costlyLines = 0
  private bytesLeft = MAX_GREP_BYTES
  private readonly pattern: LinearPattern
  private readonly pause: () => Promise<void> | undefined

  constructor(pattern: LinearPattern, signal: AbortSignal) {
    this.pattern = pattern
    this.pause = createTimeSlices(signal)
  }

  async searchFile(files: Filesystem, file: FileEntry): Promise<void> {
    if (file.size > MAX_GREP_FILE_BYTES || file.size > this.bytesLeft) {
      this.largeFiles += 1
      return
    }
    this.bytesLeft -= file.size
    const text = (await unlessRefused(files.read(file.path))) ?? ''
    let number = 0
    for (let start = 0; start < text.length && !this.isMore;) {
      const lineBreak = text.indexOf('\n', start)
      const end = lineBreak === -1 ? text.length : lineBreak
      number += 1
      this.searchLine(
        text.slice(start, text.charAt(end - 1) === '\r' && end > start ? end - 1 : end),
        file.path,
        number,
      )
      start = end + 1
      await this.pause()
    }
  }

  private searchLine(line: string, path: string, number: number): void {
    if (line.length > MAX_GREP_LINE) {
      this.longLines += 1
      return
    }
    const isMatch = this.pattern.test(line, { left: MAX_GREP_LINE_STEPS })
    if (isMatch === undefined) this.costlyLines += 1
    if (isMatch !== true) return
    this.isMore = this.matches.length === MAX_GREP_MATCHES
    if (!this.isMore) this.matches.push({ path, line: number, text: line })
  }

  formatReport(isWalkCut: boolean): string {
    const lines = this.matches.map(({ path, line, text }) => {
      const shown = cutText(text, MAX_GREP_SHOWN)
      return `${showPath(path)}:${line}: ${showLine(shown)}${shown.length < text.length ? '…' : ''}`
    })
    if (lines.length === 0) lines.push('No line matches.')
    const notes: string[] = []
    if (this.isMore)
      notes.push(`(The first ${MAX_GREP_MATCHES} matches. Narrow the pattern, the path or the glob to see others.)`)
    const { longLines, largeFiles, costlyLines } = this
    if (longLines > 0)
      notes.push(`(Not searched: ${formatCount(longLines, 'line')} longer than ${MAX_GREP_LINE} characters.)`)
    if (costlyLines > 0)
      notes.push(
        `(Not searched: ${formatCount(costlyLines, 'line')} on which the pattern takes too long. Simplify the pattern.)`,
      )
    if (largeFiles > 0)
      notes.push(`(Not searched: ${formatCount(largeFiles, 'file')} larger than ${MAX_GREP_FILE_BYTES} bytes.)`)
    if (isWalkCut) notes.push(describeCutWalk('path'))
    if (notes.length > 0) lines.push('', ...notes)
    return lines.join('\n')
  }
}

/** Files sorted by path, and whether there are more files than were examined. */
interface Walk {
  readonly files: readonly FileEntry[]
  readonly isCut: boolean
}

const NOTHING: Walk = { files: [], isCut: false }

/** The file at a path, or all files below a folder. */
async function findFiles(files: Filesystem, path: string, signal: AbortSignal): Promise<Walk> {
  const entry = await files.stat(path)
  if (!entry) throw notFound(path)
  if (entry.kind === 'file') return { files: [entry], isCut: false }
  return walkFiles(files, path, signal)
}

async function walkFiles(files: Filesystem, folder: string, signal: AbortSignal): Promise<Walk> {
  const found: FileEntry[] = []
  const folders = [folder]
  const pause = createTimeSlices(signal)
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    signal.throwIfAborted()
    for (const entry of (await unlessRefused(files.list(next))) ?? []) {
      if (found.length === MAX_WALKED_FILES) return { files: found.sort(byPath), isCut: true }
      if (entry.kind === 'file') found.push(entry)
      else if (!entry.link) folders.push(entry.path)
    }
    await pause()
  }
  return { files: found.sort(byPath), isCut: false }
}

function describeCutWalk(narrowing: string): string {
  return `(Only ${MAX_WALKED_FILES} files were examined. Narrow the ${narrowing} to a folder to reach the others.)`
}

/** A file or folder that has disappeared or cannot be read must not make the whole search fail. */
async function unlessRefused<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof FilesystemError) return undefined
    throw error
  }
}

function describeUnusable(pattern: string): string {
  if (pattern === '') return "The pattern is empty. Use one such as '**/*.ts'."
  return `'${cutText(pattern, 100)}' cannot be used as a pattern. Use '*', '?', '**', '{a,b}' and '[a-z]'.`
}

function inEveryFolder(pattern: string): string {
  if (pattern === '' || pattern.includes('/')) return pattern
  if (pattern.startsWith('!')) return `!**/${pattern.slice(1)}`
  return `**/${pattern}`
}

/** The fixed folders at the start of a pattern. All matches are below them. */
function getPlainFolders(pattern: string): string {
  const folders = pattern.split('/').slice(0, -1)
  const varying = folders.findIndex((folder) => /[*?[\]{}!\\"]/.test(folder))
  return folders.slice(0, varying === -1 ? folders.length : varying).join('/')
}

/**
 * Divides long work into time slices. Call the returned function often and await it: when the slice is over, it pauses
 * to let the process do other work, and it throws the signal's reason if the work was cancelled.
 */
function createTimeSlices(signal: AbortSignal): () => Promise<void> | undefined {
  let end = performance.now() + TIME_SLICE_MS
  const pause = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 0))
    signal.throwIfAborted()
    end = performance.now() + TIME_SLICE_MS
  }
  // Returns `undefined` if the slice is not over: awaiting a promise costs more than most steps of work.
  return () => {
    if (performance.now() < end) return undefined
    return pause()
  }
}
