import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import { median, type Contender } from './measure.ts'
import { SAMPLE_VALUES, placeSections, sampleSections, walked, type SampleSection } from './sample-sections.ts'

export const COLD = 'foldout cold: define, bind, render, text'
export const DESCRIPTOR = 'the descriptor, after that'
export const COLD_JOIN = 'bare join of the same strings'

/** The length of a section in the prompts of large agents. */
const TEXT_LENGTH = 570

/**
 * The cost from nothing: each run defines every section and tool again. The sections are longer than those of the
 * other contenders, and every second one has a tool.
 */
export function coldContenders(count: number): Contender[] {
  const roots = sampleSections(count).map(lengthen)
  const join = bareJoin(roots)
  const expected = join()
  const { text, tools } = definePromptFrom(roots).bind(SAMPLE_VALUES).render()
  if (text.length < expected.length / 2 || tools.length === 0) throw new Error('The cold prompt lacks text or tools.')
  return [
    { name: COLD, run: () => renderFrom(roots).length },
    { name: COLD_JOIN, run: () => readText(join()) },
  ]
}

/** Nanoseconds for the descriptor of a prompt that was just defined: it is computed once, so each round needs its own prompt. */
export function timeDescriptor(count: number, rounds: number): number {
  const roots = sampleSections(count).map(lengthen)
  const times = Array.from({ length: rounds }, () => {
    const prompt = definePromptFrom(roots)
    const start = process.hrtime.bigint()
    if (prompt.descriptor.sections.length !== count) throw new Error('The descriptor lacks sections.')
    return Number(process.hrtime.bigint() - start)
  })
  return median(times)
}

function lengthen(section: SampleSection): SampleSection {
  let template = section.template
  while (template.length < TEXT_LENGTH) template += ` ${section.template}`
  return {
    ...section,
    template: template.slice(0, TEXT_LENGTH).replace(/\$\{?\w*$/, ''),
    children: section.children.map(lengthen),
  }
}

function renderFrom(roots: readonly SampleSection[]): string {
  const { text, tools } = definePromptFrom(roots).bind(SAMPLE_VALUES).render()
  readText(text)
  return tools.length > 0 ? text : ''
}

function definePromptFrom(roots: readonly SampleSection[]) {
  let index = 0
  const define = (section: SampleSection): ReturnType<typeof defineSection> => {
    const { key, title, template, summary, folded } = section
    const hasTool = index++ % 2 === 0
    return defineSection({
      key,
      title,
      template,
      summary,
      visibility: folded ? 'summary' : 'full',
      tools: hasTool ? [defineSearch(key, title)] : [],
      children: section.children.map(define),
    })
  }
  return definePrompt({ ns: 'bench', key: 'cold', sections: roots.map(define) })
}

function defineSearch(key: string, title: string) {
  return defineTool({
    name: `search_${key}`,
    description: `Searches the records behind ${title}.`,
    params: {
      type: 'object',
      properties: { query: { type: 'string', description: 'What to look for.' } },
      required: ['query'],
    },
    execute: () => ok('Nothing found.'),
  })
}

/** The minimum that produces one text from all the strings: pre-split templates, inserted values, joined parts. */
function bareJoin(roots: readonly SampleSection[]): () => string {
  const values: Readonly<Record<string, string>> = SAMPLE_VALUES
  const templates = walked(placeSections(roots)).map(({ section, number, depth }) => {
    const pieces = `${'#'.repeat(depth + 2)} ${number} ${section.title}\n\n${section.template}`.split(/\$\{(\w+)\}/)
    return { literals: pieces.filter((_, i) => i % 2 === 0), names: pieces.filter((_, i) => i % 2 === 1) }
  })
  return () => {
    const parts: string[] = []
    for (const { literals, names } of templates) {
      let text = literals[0] ?? ''
      for (const [i, name] of names.entries()) text += (values[name] ?? '') + (literals[i + 1] ?? '')
      parts.push(text)
    }
    return parts.join('\n\n')
  }
}

/** Flattens a text into one piece of memory, as sending it would. */
function readText(text: string): number {
  return text.charCodeAt(text.length >> 1)
}
