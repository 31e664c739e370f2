/** A heading of a Markdown text, with what follows until the next heading. */
export interface MarkdownPiece {
  /** 1 to 6; 0 for what comes before the first heading. */
  readonly level: number
  /** The text of the heading, without its marks. */
  readonly title: string
  /** The lines of the heading as they are, with their line breaks. */
  readonly heading: string
  /** Everything below it as it is. */
  readonly body: string
}

const ATX = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/
/** What a line that is underlined as a heading cannot begin with: quotes, lists, tables, headings, HTML. */
const NO_PARAGRAPH = /^(?: {4}|\t| {0,3}(?:[>|#<]|[-*+][ \t]|\d{1,9}[.)][ \t]))/
const RAW_HTML = /^ {0,3}<(pre|script|style|textarea)(?:[\s>]|$)/i

/** What the lines belong to until it ends. */
type Block =
  | { readonly type: 'fence'; readonly mark: string }
  | { readonly type: 'until'; readonly end: string }
  | { readonly type: 'front matter' }

/**
 * Splits a Markdown text at its headings. Lines in fences, comments, raw HTML and front matter are no headings. All pieces
 * together are the text, byte by byte. Linear in its length.
 */
export function splitMarkdown(text: string): readonly MarkdownPiece[] {
  const splitter = new Splitter()
  for (const line of listLines(text)) splitter.add(line)
  return splitter.finish()
}

/** The lines of a text, each with its line break. */
export function listLines(text: string): readonly string[] {
  const lines: string[] = []
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start)
    let next = text.length
    if (end !== -1) next = end + 1
    lines.push(text.slice(start, next))
    start = next
  }
  return lines
}

class Splitter {
  readonly #pieces: MarkdownPiece[] = []
  #heading = ''
  #level = 0
  #title = ''
  #body: string[] = []
  #block: Block | undefined
  #isFirst = true

  add(raw: string): void {
    const isFirst = this.#isFirst
    this.#isFirst = false
    let line = raw.replace(/\r?\n$/, '')
    // A byte order mark is part of no line.
    if (isFirst) line = line.replace(/^\uFEFF/, '')
    if (this.#block) {
      if (endsBlock(this.#block, line)) this.#block = undefined
      this.#body.push(raw)
      return
    }
    if (isFirst && /^---[ \t]*$/.test(line)) this.#block = { type: 'front matter' }
    else this.#block = startBlock(line)
    if (this.#block) return void this.#body.push(raw)
    const atx = ATX.exec(line)
    if (atx) return this.#start(raw, atx[1]?.length ?? 1, atx[2] ?? '')
    const above = UNDERLINE.test(line) && this.#findUnderlined()
    if (!above) return void this.#body.push(raw)
    this.#body.pop()
    this.#start(above + raw, 2 - Number(line.includes('=')), above)
  }

  finish(): readonly MarkdownPiece[] {
    this.#end()
    return this.#pieces
  }

  /** A paragraph of one line above. */
  #findUnderlined(): string | undefined {
    const above = this.#body.at(-1)
    const before = this.#body.at(-2) ?? ''
    if (above === undefined || above.trim() === '' || before.trim() !== '' || NO_PARAGRAPH.test(above)) return undefined
    return above
  }

  #start(heading: string, level: number, title: string): void {
    this.#end()
    this.#heading = heading
    this.#level = level
    this.#title = cleanTitle(title)
  }

  #end(): void {
    if (this.#level > 0 || this.#body.length > 0)
      this.#pieces.push({ level: this.#level, title: this.#title, heading: this.#heading, body: this.#body.join('') })
    this.#body = []
  }
}

function startBlock(line: string): Block | undefined {
  const [, mark = '', info = ''] = FENCE.exec(line) ?? []
  if (mark !== '' && !(mark.startsWith('`') && info.includes('`'))) return { type: 'fence', mark }
  const comment = line.lastIndexOf('<!--')
  if (comment !== -1 && !line.includes('-->', comment) && /^ {0,3}<!--/.test(line)) return { type: 'until', end: '-->' }
  const [, tag = ''] = RAW_HTML.exec(line) ?? []
  if (tag === '' || line.toLowerCase().includes(`</${tag.toLowerCase()}>`)) return undefined
  return { type: 'until', end: `</${tag.toLowerCase()}>` }
}

function endsBlock(block: Block, line: string): boolean {
  if (block.type === 'front matter') return /^(?:---|\.\.\.)[ \t]*$/.test(line)
  if (block.type === 'until') return line.toLowerCase().includes(block.end)
  const trimmed = line.replace(/^ {0,3}/, '').trimEnd()
  return trimmed.length >= block.mark.length && trimmed === (block.mark[0] ?? '').repeat(trimmed.length)
}

/** Removes the marks at the end of a heading, and links. */
function cleanTitle(title: string): string {
  const bare = title.trim().slice(0, 1_000)
  return bare
    .replace(/(?:^|[ \t])#+$/, '')
    .replaceAll(/!?\[([^\]]{0,300})\]\([^)]{0,500}\)/g, '$1')
    .replaceAll(/[*`]+|<[^>]{0,200}>/g, '')
    .trim()
}
