import { ignore } from '../../core/promises.ts'
import { cutText, formatCount } from '../../core/text.ts'
import { defineFileTool, getLines, withoutLastSlash } from './file-tool.ts'
import type { Filesystem, LineExcerpt } from '../../files/filesystem.ts'
import { MAX_LISTED_ENTRIES, MAX_READ_CHARACTERS, MAX_READ_LINES, STREAMED_FILE_BYTES } from '../../files/limits.ts'
import { showPath } from '../../files/show-path.ts'
import { normalizePath } from '../../files/path.ts'
import { fail, ok, type ToolResult } from '../result.ts'
import { globTool, grepTool } from './glob-and-grep.ts'
import type { AnyTool } from '../tool.ts'

/**
 * Options of {@link fileTools}.
 *
 * @example
 * ```ts
 * const options: FileToolsOptions = { readOnly: true }
 * fileTools(options).map(({ name }) => name) // => [ 'list_files', 'read_file', 'glob', 'grep' ]
 * ```
 */
export interface FileToolsOptions {
  /** Leaves out the tools that change files. Default false. */
  readonly readOnly?: boolean
}

/**
 * Creates the usual tools for the files of a run: `list_files`, `read_file`, `write_file`, `edit_file`, `glob`, `grep` and
 * `remove_file`. Answers are bounded, and a model's pattern cannot stall the process.
 *
 * @example
 * ```ts
 * import { defineSection } from 'foldout'
 * import { fileTools } from 'foldout/files'
 *
 * const files = defineSection({ key: 'files', title: 'Files', template: 'Look things up.', tools: fileTools({ readOnly: true }) })
 * ```
 */
export function fileTools(options: FileToolsOptions = {}): readonly AnyTool[] {
  if (options.readOnly) return [listTool, readTool, globTool, grepTool]
  return [listTool, readTool, writeTool, editTool, globTool, grepTool, removeTool]
}

const listTool = defineFileTool<{ readonly path?: string }>({
  name: 'list_files',
  description: "Lists the direct contents of a folder: files with their size, folders with a '/' at the end.",
  properties: {
    path: { type: 'string', description: "The folder, relative to the root, as in 'src/core'. Default: the root." },
  },
  required: [],
  async run({ path = '' }, files) {
    const folder = normalizePath(withoutLastSlash(path))
    const entries = await files.list(folder)
    if (entries.length === 0) return ok(`${folder === '' ? 'The root' : `'${showPath(folder)}'`} is empty.`, entries)
    const lines = entries.slice(0, MAX_LISTED_ENTRIES).map((entry) => {
      if (entry.kind === 'folder') return `${showPath(entry.path)}/`
      return `${showPath(entry.path)} (${formatCount(entry.size, 'byte')})`
    })
    if (entries.length > MAX_LISTED_ENTRIES)
      lines.push('', `(The first ${MAX_LISTED_ENTRIES} of ${entries.length}. Use glob to find the others by name.)`)
    return ok(lines.join('\n'), entries)
  },
})

const readTool = defineFileTool<{ readonly path: string; readonly start_line?: number; readonly end_line?: number }>({
  name: 'read_file',
  description: `Reads a text file, or some of its lines. At most ${MAX_READ_LINES} lines or ${MAX_READ_CHARACTERS} characters are returned at once; the first line of the answer then says how to continue.`,
  properties: {
    path: { type: 'string', description: "The file, relative to the root, as in 'src/index.ts'." },
    start_line: { type: 'integer', minimum: 1, description: 'The first line to read, counted from 1. Default: 1.' },
    end_line: { type: 'integer', minimum: 1, description: 'The last line to read, included. Default: the last one.' },
  },
  required: ['path'],
  async run(input, files) {
    const path = normalizePath(input.path)
    const { start_line: start, end_line: end } = input
    const isLarge = files.readLines !== undefined && ((await files.stat(path))?.size ?? 0) > STREAMED_FILE_BYTES
    if (!isLarge || !files.readLines) return showLines(path, await files.read(path), start, end)
    const first = start ?? 1
    const range = {
      first,
      maxLines: MAX_READ_LINES,
      maxBytes: MAX_READ_CHARACTERS,
      ...(end !== undefined && { last: end }),
    }
    return showExcerpt(path, first, end, await files.readLines(path, range))
  },
})

function showLines(path: string, text: string, start: number | undefined, end: number | undefined): ToolResult<string> {
  if (text === '') return ok(`'${showPath(path)}' is empty.`, '')
  const lines = getLines(text)
  const total = lines.length
  const first = start ?? 1
  if (first > total) return fail(describeNoLine(path, total, first))
  const last = Math.min(end ?? total, total)
  if (last < first) return fail(describeOrder(last, first))

  const shown: string[] = []
  let left = MAX_READ_CHARACTERS
  while (first + shown.length <= last && shown.length < MAX_READ_LINES) {
    const line = lines[first - 1 + shown.length]!
    if (line.length > left && shown.length > 0) break
    shown.push(cutText(line, MAX_READ_CHARACTERS))
    left -= line.length + 1
  }
  const until = first + shown.length - 1
  const lineLength = lines[first - 1]!.length
  const isLineCut = shown[0]!.length < lineLength
  if (start === undefined && end === undefined && until === total && !isLineCut) return ok(text, text)
  const notes = [`lines ${first}-${until} of ${total}`]
  if (isLineCut) notes.push(`line ${first} is cut after ${shown[0]!.length} of its ${lineLength} characters`)
  if (until < last) notes.push(`continue with start_line ${until + 1}`)
  const part = shown.join('\n')
  return ok(`${showPath(path)} (${notes.join('; ')})\n${part}`, part)
}

/** Like {@link showLines}, for a file that is too large to load. */
function showExcerpt(path: string, first: number, end: number | undefined, excerpt: LineExcerpt): ToolResult<string> {
  const { lines, total, cutLineBytes } = excerpt
  if (first > total) return fail(describeNoLine(path, total, first))
  const last = Math.min(end ?? total, total)
  if (last < first) return fail(describeOrder(last, first))
  const until = first + lines.length - 1
  const notes = [`lines ${first}-${until} of ${total}`]
  if (cutLineBytes !== undefined)
    notes.push(`line ${first} is cut after ${lines[0]?.length ?? 0} characters; it has ${cutLineBytes} bytes`)
  if (until < last) notes.push(`continue with start_line ${until + 1}`)
  const part = lines.join('\n')
  return ok(`${showPath(path)} (${notes.join('; ')})\n${part}`, part)
}

function describeNoLine(path: string, total: number, first: number): string {
  return `'${showPath(path)}' has ${formatCount(total, 'line')}; there is no line ${first}.`
}

function describeOrder(last: number, first: number): string {
  return `end_line ${last} is before start_line ${first}. Give an end_line that is not before start_line.`
}

const writeTool = defineFileTool<{ readonly path: string; readonly content: string }>({
  name: 'write_file',
  description:
    'Writes a whole text file: creates it, with missing folders, or replaces its content. To change a part of a file, use edit_file.',
  properties: {
    path: { type: 'string', description: "The file, relative to the root, as in 'src/index.ts'." },
    content: { type: 'string', description: 'The complete content of the file.' },
  },
  required: ['path', 'content'],
  async run(input, files) {
    const path = normalizePath(input.path)
    const before = await files.stat(path)
    await files.write(path, input.content)
    const size = (await files.stat(path))?.size ?? 0
    return ok(`${before ? 'Replaced' : 'Created'} '${showPath(path)}' (${formatCount(size, 'byte')}).`)
  },
})

interface EditInput {
  readonly path: string
  readonly old_text: string
  readonly new_text: string
  readonly replace_all?: boolean
}

const editTool = defineFileTool<EditInput>({
  name: 'edit_file',
  description: 'Replaces a piece of text in a file. The piece must occur exactly once, unless replace_all is set.',
  properties: {
    path: { type: 'string', description: "The file, relative to the root, as in 'src/index.ts'." },
    old_text: {
      type: 'string',
      description: 'The text to replace, exactly as it is in the file, with its spaces and line breaks.',
    },
    new_text: { type: 'string', description: 'The replacement text. Leave it empty to delete old_text.' },
    replace_all: { type: 'boolean', description: 'Replaces every occurrence. Default: false.' },
  },
  required: ['path', 'old_text', 'new_text'],
  run: (input, files) => inTurn(files, () => edit(input, files)),
})

async function edit(input: EditInput, files: Filesystem): Promise<ToolResult> {
  const path = normalizePath(input.path)
  if (input.old_text === '')
    return fail('old_text is empty. Give the text to replace, or use write_file for a whole file.')
  if (input.old_text === input.new_text) return fail('old_text and new_text are the same, so nothing would change.')
  const text = await files.read(path)
  let { old_text: old, new_text: replacement } = input
  if (!text.includes(old) && text.includes('\r\n')) {
    // Models write plain line breaks, even if the file has others.
    old = withWindowsBreaks(old)
    replacement = withWindowsBreaks(replacement)
  }
  const pieces = text.split(old)
  const count = pieces.length - 1
  if (count === 0) {
    return fail(
      `old_text does not occur in '${showPath(path)}'. Read the file and copy the text exactly, with its spaces and line breaks.`,
    )
  }
  if (count > 1 && !input.replace_all) {
    return fail(
      `old_text occurs ${count} times in '${showPath(path)}'. Include more of the surrounding text until it occurs once, or set replace_all.`,
    )
  }
  await files.write(path, pieces.join(replacement))
  return ok(`Edited '${showPath(path)}': replaced ${formatCount(count, 'occurrence')}.`)
}

const withWindowsBreaks = (text: string): string => text.replaceAll(/\r?\n/g, '\r\n')

const removeTool = defineFileTool<{ readonly path: string }>({
  name: 'remove_file',
  description: 'Removes a file, or a folder with everything in it.',
  properties: { path: { type: 'string', description: 'The file or folder, relative to the root.' } },
  required: ['path'],
  async run(input, files) {
    const path = normalizePath(withoutLastSlash(input.path))
    await files.remove(path)
    return ok(`Removed '${showPath(path)}'.`)
  },
})

const edits = new WeakMap<Filesystem, Promise<unknown>>()

/**
 * Runs edits of the same files one after another: if two edits read the same text, the second one would undo the first.
 */
function inTurn<Value>(files: Filesystem, work: () => Promise<Value>): Promise<Value> {
  const done = (edits.get(files) ?? Promise.resolve()).then(work)
  edits.set(files, ignore(done, 'the caller is told'))
  return done
}
