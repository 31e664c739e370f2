import { checkNumbers } from '../../core/check-number.ts'
import { PromptValidationError } from '../../core/errors.ts'
import { escapeTemplate } from '../../core/template.ts'
import { shorten } from '../../core/text.ts'
import { toVisibleText } from '../../core/visible-text.ts'
import type { Filesystem } from '../../files/filesystem.ts'
import { defineSection, type Section } from '../../prompt/definition/section.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { toKey } from '../skills/read-skill.ts'
import { listLines, splitMarkdown, type MarkdownPiece } from './split-markdown.ts'

/**
 * A Markdown file.
 *
 * @example
 * ```ts
 * const handbook: MarkdownFile = { files: createHostFilesystem('.'), path: 'README.md' }
 * const sections = await markdownSections(handbook)
 * ```
 */
export interface MarkdownFile {
  readonly files: Pick<Filesystem, 'read'>
  readonly path: string
}

/**
 * Options of {@link markdownSections}.
 *
 * @example
 * ```ts
 * const options: MarkdownSectionsOptions = { level: 2, tools: { refunds: [refund] } }
 * const policy = await markdownSections('## Refunds\n\nWithin 30 days. Do not ask why.', options)
 * policy.map(({ key }) => key) // => [ 'refunds' ]
 * ```
 */
export interface MarkdownSectionsOptions {
  /**
   * The level of the headings at which the text is split: 1 for `#`. Deeper headings stay in the text, and what is above
   * stays open. Default: the first level that has more than one heading.
   */
  readonly level?: number
  /** The tools that sections bring when they open, by their keys: `testing` for the heading `Testing`. */
  readonly tools?: Readonly<Record<string, readonly AnyTool[]>>
  /** The most characters of the list of folded sections. Default 8,000. */
  readonly budget?: number
}

/** Sections shorter than this stay open, because a line in the list is hardly shorter. In characters. */
const SHORT = 300
const MAX_SUMMARY = 300
/** What follows after so many sections belongs to the last one. */
const MAX_SECTIONS = 2_000

/**
 * Folds a Markdown text by its headings: an `AGENTS.md`, a handbook, a policy. The folded sections are a list of headings
 * with the first sentence of each, or with what a comment below the heading says: `<!-- summary: How to test. -->`. The
 * text of an open section has the bytes of the file.
 *
 * @example
 * ```ts
 * const policy = await markdownSections({ files: createHostFilesystem('.'), path: 'README.md' })
 * const prompt = definePrompt({ ns: 'agents', key: 'coder', sections: [role, ...policy] })
 * ```
 */
export async function markdownSections(
  source: string | MarkdownFile,
  options: MarkdownSectionsOptions = {},
): Promise<readonly Section<{}, string>[]> {
  checkNumbers({ level: options.level, budget: options.budget }, { code: 'prompt-invalid', least: 1 })
  let text = source
  if (typeof text !== 'string') text = await text.files.read(text.path)
  const { tools = {}, budget } = options
  const pieces = splitMarkdown(text)
  const level = options.level ?? findLevel(pieces)
  const keys = new Set<string>()
  const sections = joinPieces(pieces, level).map((chapter) => {
    const key = findKey(chapter.title, keys)
    const own = (Object.hasOwn(tools, key) && tools[key]) || []
    const body = trimLines(chapter.text)
    const isFolded = chapter.level === level && (body.length >= SHORT || own.length > 0)
    return defineSection({
      key,
      title: toVisibleText(chapter.title) || 'Introduction',
      // If a custom renderer returned nothing, the section would be left out.
      render: () => body || ' ',
      ...(isFolded && {
        summary: escapeTemplate(summarize(chapter)),
        visibility: 'summary' as const,
        listed: budget ?? true,
      }),
      tools: own,
    })
  })
  const unknown = Object.keys(tools).find((key) => !keys.has(key))
  if (unknown === undefined) return sections
  throw new PromptValidationError(
    `The Markdown text has no section '${shorten(unknown)}' for tools. It has: ${[...keys].join(', ')}.`,
    { path: unknown },
  )
}

/** The first level with more than one heading; otherwise the last one. */
function findLevel(pieces: readonly MarkdownPiece[]): number {
  const levels = pieces.map(({ level }) => level).filter((level) => level > 0)
  const all = [...new Set(levels)].sort((a, b) => a - b)
  return all.find((level) => levels.filter((each) => each === level).length > 1) ?? all.at(-1) ?? 1
}

interface Chapter {
  readonly level: number
  readonly title: string
  /** What is below its heading, deeper headings included. */
  readonly text: string
}

/** Joins deeper headings with the ones above them. */
function joinPieces(pieces: readonly MarkdownPiece[], level: number): readonly Chapter[] {
  const chapters: { level: number; title: string; texts: string[] }[] = []
  for (const piece of pieces) {
    const last = chapters.at(-1)
    if (last && (piece.level > level || chapters.length >= MAX_SECTIONS)) last.texts.push(piece.heading, piece.body)
    else if (piece.level > 0 || piece.body.trim() !== '') {
      if (piece.level > level) chapters.push({ level: 0, title: '', texts: [piece.heading, piece.body] })
      else chapters.push({ level: piece.level, title: piece.title, texts: [piece.body] })
    }
  }
  return chapters.map(({ texts, ...chapter }) => ({ ...chapter, text: texts.join('') }))
}

/** Removes the blank lines around a text, and nothing else. */
function trimLines(text: string): string {
  return text.replace(/^(?:[ \t]*\r?\n)+/, '').trimEnd()
}

function findKey(title: string, taken: Set<string>): string {
  const base = (toKey(title) || 'introduction').slice(0, 58)
  let key = base
  for (let number = 2; taken.has(key); number++) key = `${base}-${number}`
  taken.add(key)
  return key
}

const BY_HAND = /^[ \t]*<!--[ \t]*summary:(.{1,2000}?)-->/i

function summarize({ title, text }: Chapter): string {
  const lines = listLines(text.slice(0, 20_000))
  const [, byHand] = BY_HAND.exec(lines.find((line) => line.trim() !== '') ?? '') ?? []
  if (byHand !== undefined && byHand.trim() !== '') return shorten(toVisibleText(byHand).trim(), MAX_SUMMARY)
  return findSentence(lines) || `Everything about ${title || 'this'}.`
}

/** The first sentence of the first paragraph, or of the first item of a list. */
function findSentence(lines: readonly string[]): string {
  let fence = ''
  const words: string[] = []
  for (const line of lines) {
    const text = line.trim()
    const [mark = ''] = /^(?:`{3,}|~{3,})/.exec(text) ?? []
    if (fence !== '' || mark !== '') {
      if (fence === '') fence = mark
      else if (mark.startsWith(fence)) fence = ''
      if (words.length > 0) break
      continue
    }
    const isPlain = text !== '' && !/^(?:[#|<>]|!\[|[-=*_]{3,}$)/.test(text)
    if (!isPlain && words.length > 0) break
    if (isPlain) words.push(text.replace(/^(?:[-*+]|\d{1,9}[.)])[ \t]+/, ''))
    if (words.length > 0 && /[.!?:]$/.test(text)) break
  }
  const paragraph = toVisibleText(words.join(' ')).replaceAll(/!?\[([^\]]{0,300})\]\([^)]{0,500}\)/g, '$1')
  const [end] = /^.{10,}?[.!?](?=\s|$)/s.exec(paragraph.slice(0, 2_000)) ?? []
  return shorten((end ?? paragraph).replaceAll(/\*\*/g, '').trim(), MAX_SUMMARY)
}
