const CHILDREN = 9

/**
 * A TypeScript file with a prompt of `count` sections, in roots with nine children each, as people write them: most name their
 * values in the template, one in ten declares them, some are folded and some have selectors.
 */
export function typedPromptSource(count: number): string {
  const roots: string[] = []
  const sections: string[] = []
  for (let made = 0; made < count; made += CHILDREN + 1) {
    const children: string[] = []
    for (let index = made + 1; index < Math.min(made + CHILDREN + 1, count); index++) {
      sections.push(sectionSource(index, []))
      children.push(`section${index}`)
    }
    sections.push(sectionSource(made, children))
    roots.push(`section${made}`)
  }
  return `import { z } from 'zod'
import { definePrompt, defineSection } from '../../src/index.ts'

// In every size, so that what a first schema costs counts as the library's.
export const shape = z.object({ owner: z.string(), limit: z.number() })
${sections.join('\n')}
export const prompt = definePrompt({ ns: 'bench', key: 'types', sections: [${roots.join(', ')}] })
export const text: string = prompt.bind(${count === 0 ? '' : `{ ${valuesSource(count)} }`}).render().text
`
}

type Kind = 'plain' | 'declared' | 'folded' | 'selected'

/** Of ten sections, five are plain, one declares its values, three are folded, and one is enabled by a selector. */
function getKind(index: number): Kind {
  const place = index % (CHILDREN + 1)
  if (place === 3) return 'declared'
  if (place === 5) return 'selected'
  return place === 1 || place === 4 || place === 7 ? 'folded' : 'plain'
}

const NAMES = ['product', 'customer', 'agent', 'team', 'region', 'language', 'plan', 'currency', 'contact', 'version']

/** The two values that a section names. Most are shared; one section in five has its own value. */
function getNames(index: number): readonly [string, string] {
  const kind = getKind(index)
  if (kind === 'declared') return [`owner${index}`, `limit${index}`]
  const first = NAMES[index % NAMES.length]!
  return kind === 'selected' ? [first, `detail${index}`] : [first, NAMES[(index * 3 + 1) % NAMES.length]!]
}

function sectionSource(index: number, children: readonly string[]): string {
  const [first, second] = getNames(index)
  const lines = [
    `key: 'topic-${index}'`,
    `title: 'Topic ${index}'`,
    `template: 'Rules for case ${index}: what \${${first}} expects, what is allowed, and when \${${second}} has to be asked.'`,
  ]
  const kind = getKind(index)
  if (kind === 'declared') lines.push(`params: z.object({ ${first}: z.string(), ${second}: z.number() })`)
  if (kind === 'declared' || kind === 'folded') {
    lines.push(`summary: 'Rules for case ${index}, for \${${first}}.'`, `visibility: 'summary'`)
  }
  if (kind === 'selected') lines.push(`enabled: (params) => params.${second} !== ''`)
  if (children.length > 0) lines.push(`children: [${children.join(', ')}]`)
  return `const section${index} = defineSection({\n${lines.map((line) => `  ${line},\n`).join('')}})`
}

function valuesSource(count: number): string {
  const values = new Map<string, string>()
  for (let index = 0; index < count; index++) {
    const [first, second] = getNames(index)
    values.set(first, `'some words'`).set(second, getKind(index) === 'declared' ? '3' : `'other words'`)
  }
  return [...values].map(([name, value]) => `${name}: ${value}`).join(', ')
}
