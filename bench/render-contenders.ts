import {
  PromptElement,
  SystemMessage,
  OutputMode,
  Raw,
  renderPrompt,
  type BasePromptElementProps,
  type PromptPiece,
} from '@vscode/prompt-tsx'
import Handlebars from 'handlebars'
import { createSession, definePrompt, defineSection, defineTool, fromJsonSchema, ok } from 'foldout'
import { visibility } from 'foldout/session'
import type { Contender } from './measure.ts'
import {
  SAMPLE_VALUES,
  placeSections,
  sampleSections,
  shownTemplate,
  walked,
  type PlacedSection,
  type SampleSection,
} from './sample-sections.ts'

type Values = Readonly<Record<string, string>>

export const FROM_NOTHING = 'foldout from nothing'
export const FROM_NOTHING_READ = 'foldout from nothing, text read'
export const AFTER_OPENING = 'foldout after one opening'
export const AFTER_OPENING_READ = 'foldout after one opening, text read'
export const BARE_JOIN = 'bare join'
export const ONE_COPY = 'one copy of the text'
export const HANDLEBARS = 'handlebars'
export const PROMPT_TSX = 'prompt-tsx'

/** The contenders for one size. Those that return one text are checked to return the same. */
export async function renderContenders(count: number): Promise<Contender[]> {
  const roots = sampleSections(count)
  const tree = placeSections(roots)
  const placed = walked(tree)
  const foldout = foldoutContenders(roots, placed)
  const bare = bareJoin(placed)
  const handlebars = handlebarsTemplates(placed)
  const expected = bare()
  mustEqual(foldout.fromNothing(), expected, FROM_NOTHING)
  mustEqual(handlebars(), expected, HANDLEBARS)
  foldout.check()
  const messages = promptTsx(tree)
  const promptTsxText = async (): Promise<string> => (await messages()).join('\n\n')
  mustEqual(await promptTsxText(), expected, PROMPT_TSX)
  return [
    { name: FROM_NOTHING, run: () => foldout.fromNothing().length },
    { name: FROM_NOTHING_READ, run: () => flat(foldout.fromNothing()) },
    { name: AFTER_OPENING, run: () => foldout.afterOpening().length },
    { name: AFTER_OPENING_READ, run: () => flat(foldout.afterOpening()) },
    { name: BARE_JOIN, run: () => flat(bare()) },
    { name: ONE_COPY, run: oneCopy(expected) },
    { name: HANDLEBARS, run: () => flat(handlebars()) },
    { name: PROMPT_TSX, run: async () => flat(await promptTsxText()) },
  ]
}

/**
 * Flattens a string that the engine keeps as a tree of parts, as sending it would. That costs the same for every contender, at
 * least `one copy of the text`, so renders are measured without it too.
 */
function flat(text: string): number {
  return text.charCodeAt(text.length >> 1)
}

function mustEqual(text: string, expected: string, name: string): void {
  if (text !== expected) throw new Error(`The text of '${name}' is not that of '${BARE_JOIN}'.`)
}

function foldoutContenders(roots: readonly SampleSection[], placed: readonly PlacedSection[]) {
  const prompt = definePrompt({ ns: 'bench', key: 'render', sections: roots.map(foldoutSection) })
  const values = SAMPLE_VALUES as never
  const bound = prompt.bind(values)
  const session = createSession()
  const candidates = placed.filter(({ section }) => section.folded && section.hasTool)
  const { path } = candidates[candidates.length >> 1]!
  let isOpen = false
  const rendered = (bind: typeof bound): string => {
    const { text, tools } = bind.render({ session })
    if (tools.length === 0) throw new Error('The prompt offers no tools.')
    return text
  }
  const afterOpening = (): string => {
    isOpen = !isOpen
    session.dispatch(isOpen ? visibility.events.set({ path, visibility: 'full' }) : visibility.events.cleared({ path }))
    return rendered(bound)
  }
  return {
    fromNothing: () => rendered(prompt.bind(values)),
    afterOpening,
    /** Checks that an incremental render gives the same result as a full one. */
    check() {
      const [opened, openedFromScratch] = [afterOpening(), rendered(prompt.bind(values))]
      mustEqual(opened, openedFromScratch, AFTER_OPENING)
      if (opened === afterOpening()) throw new Error('Opening a section did not change the text.')
    },
  }
}

const toolParams = fromJsonSchema({
  type: 'object',
  properties: { query: { type: 'string', description: 'What to look for.' } },
  required: ['query'],
})

function foldoutSection(section: SampleSection): ReturnType<typeof plainSection> {
  return plainSection(section, section.children.map(foldoutSection))
}

function plainSection(section: SampleSection, children: readonly ReturnType<typeof defineSection>[]) {
  const { key, title, template, summary, folded, hasTool } = section
  const tool = defineTool({
    name: `search_${key}`,
    description: `Searches the records behind ${title}.`,
    params: toolParams,
    execute: () => ok('Nothing found.'),
  })
  return defineSection({
    key,
    title,
    template,
    summary,
    visibility: folded ? 'summary' : 'full',
    tools: hasTool ? [tool] : [],
    children,
  })
}

/** The minimum that produces the text: pre-split templates, inserted values, joined parts. */
function bareJoin(placed: readonly PlacedSection[]): () => string {
  const templates = placed.map((section) => splitTemplate(shownTemplate(section)))
  const values: Values = SAMPLE_VALUES
  return () => {
    const parts: string[] = []
    for (const { literals, names } of templates) {
      let text = literals[0]!
      for (let i = 0; i < names.length; i++) text += values[names[i]!]! + literals[i + 1]!
      parts.push(text)
    }
    return parts.join('\n\n')
  }
}

/** The text assembled from a few large parts: the lower bound for anything that returns one string. */
function oneCopy(text: string): () => number {
  const bytes = Buffer.from(text)
  const parts: string[] = []
  const size = Math.min(LARGEST_PART, Math.ceil(bytes.length / 2))
  for (let from = 0; from < bytes.length; from += size) parts.push(bytes.toString('latin1', from, from + size))
  return () => flat(parts.join(''))
}

const LARGEST_PART = 16_384

const PLACEHOLDER = /\$\{(\w+)\}/

function splitTemplate(template: string): { readonly literals: readonly string[]; readonly names: readonly string[] } {
  const pieces = template.split(PLACEHOLDER)
  return { literals: pieces.filter((_, i) => i % 2 === 0), names: pieces.filter((_, i) => i % 2 === 1) }
}

/** One compiled template per section, because the folded sections change from render to render. */
function handlebarsTemplates(placed: readonly PlacedSection[]): () => string {
  const templates = placed.map((section) =>
    Handlebars.compile(shownTemplate(section).replaceAll(/\$\{(\w+)\}/g, '{{$1}}'), {
      noEscape: true,
      knownHelpersOnly: true,
    }),
  )
  return () => templates.map((template) => template(SAMPLE_VALUES)).join('\n\n')
}

/** One element and one message per section. */
function promptTsx(tree: readonly PlacedSection[]): () => Promise<string[]> {
  const texts = new Map(walked(tree).map((placed) => [placed, bareJoin([placed])]))
  const piece = (ctor: unknown, props: object | null, ...children: unknown[]): PromptPiece =>
    vscpp(ctor, props, ...children) as PromptPiece
  const elements = (sections: readonly PlacedSection[]): PromptPiece[] =>
    sections.map((placed) => piece(SectionElement, { placed }))

  class SectionElement extends PromptElement<BasePromptElementProps & { readonly placed: PlacedSection }> {
    override render(): PromptPiece {
      const { placed } = this.props
      return piece(vscppf, null, piece(SystemMessage, {}, texts.get(placed)!()), elements(placed.below))
    }
  }
  class RootElement extends PromptElement {
    override render(): PromptPiece {
      return piece(vscppf, null, elements(tree))
    }
  }
  const tokenizer = {
    mode: OutputMode.Raw as const,
    tokenLength: (part: Raw.ChatCompletionContentPart) =>
      part.type === Raw.ChatCompletionContentPartKind.Text ? part.text.length >> 2 : 0,
    countMessageTokens: (message: Raw.ChatMessage) =>
      message.content.reduce((sum, part) => sum + tokenizer.tokenLength(part), 0),
  }
  const endpoint = { modelMaxPromptTokens: Number.MAX_SAFE_INTEGER }
  return async () => {
    const { messages } = await renderPrompt(RootElement, {}, endpoint, tokenizer)
    return messages.map(({ content }: Raw.ChatMessage) =>
      content.map((part) => (part.type === Raw.ChatCompletionContentPartKind.Text ? part.text : '')).join(''),
    )
  }
}
