/** A section as every contender gets it: its text, and whether it is folded. */
export interface SampleSection {
  readonly key: string
  readonly title: string
  /** About 300 characters with three placeholders in the form `${name}`. */
  readonly template: string
  readonly summary: string
  readonly folded: boolean
  readonly hasTool: boolean
  readonly children: readonly SampleSection[]
}

export const SAMPLE_VALUES = {
  product: 'Harbour Desk',
  customer: 'Acme Shipping',
  agent: 'the support assistant',
  team: 'Platform Operations',
  region: 'eu-central-1',
  language: 'English',
  plan: 'Enterprise',
  currency: 'EUR',
  escalation: 'duty-manager@example.com',
  version: '4.12.3',
} as const

const SENTENCES = [
  'Answer questions about ${product} from this page first, and say which of its statements an answer rests on.',
  'Before changing anything for ${customer}, repeat in one sentence what was asked for and wait for their yes.',
  'Whatever ${agent} cannot find out with its tools is named as unknown; nobody is served by a plausible guess.',
  'Incidents are written up for ${team} within the hour: what was seen, since when, and what was tried already.',
  'Data that is kept in ${region} stays there; exports to another region need a written approval on the ticket.',
  'Write in ${language}, in short paragraphs, without exclamation marks and without repeating the question back.',
  'Customers on the ${plan} plan have an answer within fifteen minutes; all others within one working day or so.',
  'Amounts are given in ${currency} with two decimals, and every refund names the invoice line that it belongs to.',
  'Anything that touches payroll or access rights goes to ${escalation} with the whole conversation attached.',
  'The steps below hold for version ${version} and later; for older installations ask for an upgrade date first.',
] as const

const TOPICS = ['Refunds', 'Access rights', 'Imports', 'Incidents', 'Invoices', 'Exports', 'Quotas', 'Audits'] as const

const CHILDREN = 9

/**
 * `count` sections in two levels: roots, each with nine children. Every second child is folded, five of nine, so that half
 * of all sections are; one section in ten has a tool, and among those are open and folded ones.
 */
export function sampleSections(count: number): SampleSection[] {
  if (count % (CHILDREN + 1) !== 0) throw new Error(`${count} sections do not divide into roots with nine children.`)
  return Array.from({ length: count / (CHILDREN + 1) }, (_, root) => {
    const first = root * (CHILDREN + 1)
    const children = Array.from({ length: CHILDREN }, (_, i) =>
      sampleSection(first + 1 + i, { folded: i % 2 === 0, hasTool: i === root % CHILDREN, children: [] }),
    )
    return sampleSection(first, { folded: false, hasTool: false, children })
  })
}

function sampleSection(index: number, parts: Pick<SampleSection, 'folded' | 'hasTool' | 'children'>): SampleSection {
  const topic = TOPICS[index % TOPICS.length]!
  const sentence = (offset: number): string => SENTENCES[(index + offset) % SENTENCES.length]!
  return {
    key: `${topic.toLowerCase().replaceAll(' ', '-')}-${index}`,
    title: `${topic}, part ${index}`,
    template: [sentence(0), sentence(3), sentence(7)].join(' '),
    summary: `How \${customer} is served on ${topic.toLowerCase()}, case ${index}: the rules, the limits and whom to ask.`,
    ...parts,
  }
}

/** A section at its place. */
export interface PlacedSection {
  readonly section: SampleSection
  readonly path: string
  readonly number: string
  readonly depth: number
  readonly below: readonly PlacedSection[]
}

export function placeSections(
  sections: readonly SampleSection[],
  parent?: Omit<PlacedSection, 'below'>,
): PlacedSection[] {
  return sections.map((section, i) => {
    const placed = {
      section,
      path: parent ? `${parent.path}.${section.key}` : section.key,
      number: parent ? `${parent.number}.${i + 1}` : String(i + 1),
      depth: parent ? parent.depth + 1 : 0,
    }
    return { ...placed, below: placeSections(section.children, placed) }
  })
}

/** All sections in walking order. */
export function walked(placed: readonly PlacedSection[]): PlacedSection[] {
  return placed.flatMap((one) => [one, ...walked(one.below)])
}

/** A section's text in a prompt: its heading, and its body or its summary with the line that says how to open it. */
export function shownTemplate({ section, path, number, depth }: PlacedSection): string {
  const heading = `${'#'.repeat(depth + 2)} ${number} ${section.title}`
  if (!section.folded) return `${heading}\n\n${section.template}`
  const suffix = `---\n[This section is summarized. To view full content, call \`read_section\` with key "${path}".]`
  return `${heading}\n\n${section.summary}\n\n${suffix}`
}
