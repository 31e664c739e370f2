import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  definePrompt,
  defineSection,
  defineTool,
  ok,
  openSections,
  readSection,
  runAgent,
  type AnySection,
  type BoundPrompt,
  type DisclosureStrategy,
} from '../entries/index.ts'
import { toolDefinition } from '../tools/definition.ts'
import { calls, says, scriptedAdapter } from '../testing/scripted-adapter.ts'

const closeAccount = defineTool({
  name: 'close_account_7392',
  description: 'Closes a bank account.',
  params: z.object({ account: z.string() }),
  execute: () => ok('Closed.'),
})
const page = (key: string, title: string, template: string, more: object = {}): AnySection =>
  defineSection({ key, title, template, summary: `About ${title.toLowerCase()}.`, visibility: 'summary', ...more })
const PRODUCTS = ['Amber', 'Birch', 'Cedar', 'Dahlia', 'Elm', 'Fern', 'Ginger', 'Hazel', 'Iris', 'Juniper'] as const
const product = (name: string): AnySection =>
  page(name.toLowerCase(), name, `Everything about the ${name} account.`, {
    children: [
      page('fees', `${name} fees`, `The ${name} account costs ${name.length} dollars a month.\nIt has no other fees.`),
      page('rates', `${name} rates`, `The ${name} account pays interest once a year.`),
      page('limits', `${name} limits`, `A day's withdrawals from ${name} end at ${name.length * 100} dollars.`),
    ],
  })
const createBank = (disclosure: DisclosureStrategy): BoundPrompt<{}> =>
  definePrompt({
    ns: 'bank',
    key: 'desk',
    disclosure,
    sections: [
      defineSection({ key: 'role', title: 'Role', template: 'You work at a bank.' }),
      page('closing', 'Closing an account', 'The balance must be zero. Then the account is closed.', {
        tools: [closeAccount],
      }),
      page('accounts', 'Accounts', 'Each account has fees, rates and limits.', { children: PRODUCTS.map(product) }),
    ],
  }).bind()

/** The index of a prompt is made once. */
const banks = { readSection: createBank(readSection()), openSections: createBank(openSections()) }

async function ask(
  args: object,
  strategy: keyof typeof banks = 'readSection',
): Promise<{ readonly text: string; readonly isError: boolean; readonly tools: readonly string[] }> {
  const tool = { readSection: 'read_section', openSections: 'open_sections' }[strategy]
  const adapter = scriptedAdapter([calls(tool, args), says('Done.')])
  await runAgent(banks[strategy], { adapter, input: 'Go.' })
  const last = adapter.requests.at(-1)
  const result = last?.messages.find((message) => message.role === 'tool')
  return { text: result?.text ?? '', isError: result?.isError ?? false, tools: last?.tools ?? [] }
}

describe('finding sections by what they say', () => {
  it('R85 opens the section that clearly fits, with its tools', async () => {
    const { text, tools } = await ask({ section_key: '', query: 'the customer wants to close an account' })
    expect(text).toBe(
      '# Closing an account\n\nThe balance must be zero. Then the account is closed.\n\nCallable now: close_account_7392.',
    )
    expect(tools).toContain('close_account_7392')
  })

  it('R85 finds a tool that only a section names by asking for it', async () => {
    expect((await ask({ query: 'close_account_7392' })).tools).toContain('close_account_7392')
  })

  it('R85 answers with path, title, cost and the lines that match if several sections fit', async () => {
    const { text } = await ask({ query: 'monthly fees in dollars' })
    expect(text).toMatch(
      /^Sections about "monthly fees in dollars"\. Call `read_section` with the key of one:\n- accounts\.\w+\.fees: \w+ fees \(\d+ tokens\)\n {2}The \w+ account costs \d+ dollars a month\.\n/,
    )
    expect(text.split('\n- ')).toHaveLength(6)
  })

  it('R85 says that nothing fits', async () => {
    const { text, isError } = await ask({ query: 'qqqq zzzz' })
    expect(text).toMatch(/^No section (says anything about|fits well\. Nearest to) "qqqq zzzz"\./)
    expect(isError).toBe(text.startsWith('No section says'))
  })

  it('R85 works with open_sections, and keys still work', async () => {
    const closing = await ask({ section_keys: [], query: 'close an account', reason: '' }, 'openSections')
    expect(closing.tools).toContain('close_account_7392')
    expect((await ask({ section_key: 'closing' })).text).toContain('The balance must be zero.')
    expect((await ask({})).text).toContain("Section '' does not exist in this prompt.")
    expect((await ask({ section_keys: [] }, 'openSections')).text).toContain('At least one section key')
  })

  it('R85 survives any query', async () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.constantFrom('a'.repeat(4_000_000), '{}[]()'.repeat(50_000), 'Wie schließe ich ein Konto?', '口座を閉じる'),
    )
    await fc.assert(
      fc.asyncProperty(texts, async (query) => {
        const { text } = await ask({ query })
        expect(text.length).toBeLessThan(5_000)
      }),
      { numRuns: 30 },
    )
  })

  it('R85 offers no query in a prompt whose sections the model can see', () => {
    const [tool] = definePrompt({ ns: 'a', key: 'b', sections: [page('one', 'One', 'Text.')] })
      .bind()
      .render().tools
    expect(JSON.stringify(tool && toolDefinition(tool))).not.toContain('query')
  })
})

describe('the table of contents of a large prompt', () => {
  const many = (sections: number, summaryWords: number): BoundPrompt<{}> =>
    definePrompt({
      ns: 'docs',
      key: 'many',
      sections: [
        defineSection({ key: 'role', title: 'Role', template: 'You help.' }),
        defineSection({
          key: 'manual',
          title: 'Manual',
          template: 'The manual.',
          children: Array.from({ length: sections }, (_, i) =>
            defineSection({
              key: `page-${i + 1}`,
              title: `Page ${i + 1}`,
              template: `Text ${i + 1}.`,
              summary: 'word '.repeat(summaryWords),
              visibility: 'summary',
            }),
          ),
        }),
      ],
    }).bind()
  const hint = 'Call `read_section` with a key, or with a `query` to find what you need by what it says.'

  it('R85 shows summaries while they are few', () => {
    expect(many(28, 10).render().text).toContain('[This section is summarized.')
  })

  it('R85 shows headings, then names, then a count', () => {
    const headings = many(60, 60).render().text
    expect(headings).toContain('### 2.60 Page 60 [key: "manual.page-60"]\n\n[These sections are summarized. ' + hint)
    expect(headings).not.toContain('word')
    const names = many(250, 60).render().text
    expect(names).toContain('[Summarized sections in "manual": page-1, page-2,')
    expect(names).toContain(`page-250. Their keys begin with "manual.". ${hint}]`)
    const count = many(2_000, 60).render()
    expect(count.text).toMatch(
      /\n\nThe manual\.\n\n\[2000 summarized sections in "manual"\. Call `read_section`[^\n]*$/,
    )
    expect(count.summarized).toHaveLength(2_000)
  })

  it('R85 costs no more than its budget, whatever the number of sections', () => {
    for (const sections of [30, 100, 300, 700, 2_000]) {
      const full = many(sections, 40).render()
      const rest = many(1, 1).render().tokens.text
      expect(full.tokens.text).toBeLessThanOrEqual(2_000 + rest)
    }
  })

  it('R85 opens a section that is only counted, and shows it like any other', () => {
    const prompt = many(2_000, 60)
    const opened = prompt.render({ visibility: { 'manual.page-7': 'full' } })
    expect(opened.text).toContain('### 2.7 Page 7\n\nText 7.')
    expect(opened.view.content('manual.page-7')).toBe('# Page 7\n\nText 7.')
    expect(opened.text).toContain('[1999 summarized sections in "manual".')
  })
})
