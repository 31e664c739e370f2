import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHost } from '../../agent/hosts/core/host.ts'
import { startCpuClock } from '../../core/cpu.fixtures.ts'
import { createMemoryFilesystem } from '../../files/memory-filesystem.ts'
import { definePrompt } from '../../prompt/prompt.ts'
import { ok } from '../../tools/result.ts'
import { defineTool } from '../../tools/tool.ts'
import { markdownSections, type MarkdownSectionsOptions } from './markdown-sections.ts'
import { splitMarkdown } from './split-markdown.ts'

const LONG = 'It takes a while to explain. '.repeat(12).trim()
const AGENTS = `# The shop

Sell lamps.

## Testing

Run \`npm test\` before you commit. Then wait.

${LONG}

\`\`\`sh
# not a heading
npm test
\`\`\`

### Slow tests

They are in \${CI}.

## Refunds
<!-- summary: How to give money back. -->

  Indented, with  two  blanks.

${LONG}

## Style

Be brief.
`

const bind = async (text: string, options: MarkdownSectionsOptions = {}) =>
  definePrompt({ ns: 't', key: 't', sections: await markdownSections(text, options) }).bind()

describe('R75 a Markdown text', () => {
  it('R75 is folded by its headings, with the first sentence or a comment as the summary', async () => {
    expect((await bind(AGENTS)).render().text).toBe(
      '## 1 The shop\n\nSell lamps.\n\n- testing (Testing): Run `npm test` before you commit.\n- refunds (Refunds): How to give money back.\n\n---\n[These sections are summarized. Call `read_section` with a key to view the full content.]\n\n## 4 Style\n\nBe brief.',
    )
  })

  it('R75 keeps the bytes of an open section, deeper headings included', async () => {
    const { text } = (await bind(AGENTS)).render({ visibility: { testing: 'full', refunds: 'full' } })
    const testing = AGENTS.slice(AGENTS.indexOf('Run `npm'), AGENTS.indexOf('## Refunds')).trimEnd()
    expect(text).toContain(`## 2 Testing\n\n${testing}\n\n## 3 Refunds`)
    expect(text).toContain('\n\n  Indented, with  two  blanks.\n\n')
  })

  it('R75 is read from a file, and its sections bring tools', async () => {
    const refund = defineTool({ name: 'refund', description: 'Refunds.', execute: () => ok('Refunded.') })
    const file = { files: createMemoryFilesystem({ 'AGENTS.md': AGENTS }), path: 'AGENTS.md' }
    const sections = await markdownSections(file, { tools: { refunds: [refund], style: [refund] } })
    const host = createHost(definePrompt({ ns: 't', key: 't', sections }).bind())
    const call = { id: 'a', name: 'read_section', arguments: { section_key: 'style' } }
    const { text, added } = await host.at([]).call(call)
    expect(text).toBe('# Style\n\nBe brief.\n\nCallable now: refund.')
    expect(added.map(({ name }) => name)).toEqual(['refund'])
    await expect(markdownSections(file, { tools: { refnds: [refund] } })).rejects.toThrow(
      "has no section 'refnds' for tools. It has: the-shop, testing, refunds, style.",
    )
  })

  it.each([
    ['fences', '````md\n# no\n```\n# no\n````\n# yes', ['yes']],
    ['tildes', '~~~\n# no\n```\n~~~\n# yes', ['yes']],
    ['a fence that never ends', '# yes\n```\n# no', ['yes']],
    ['indented code', '    # no\n\t# no\n   # yes', ['yes']],
    ['comments', '<!-- x\n# no\n-->\n# yes\n<!-- y --># no', ['yes']],
    ['raw HTML', '<pre>\n# no\n</pre>\n# yes', ['yes']],
    ['front matter', '---\n# no\nname: x\n---\n# yes', ['yes']],
    ['underlines', 'One\n===\n\nTwo\n---\n\n- no\n---\n\na\nno\n---\n', ['One', 'Two']],
    ['marks at the end', '# One ##\n## Two#\n#no\n####### no\n#', ['One', 'Two#', '']],
    ['links and code', '# [The `shop`](https://x.example) *now*', ['The shop now']],
    ['other line breaks', '# One\r\nText\r\n# Two\r\n', ['One', 'Two']],
  ])('R75 has no headings in %s', (_, text, titles) => {
    const pieces = splitMarkdown(text).filter(({ level }) => level > 0)
    expect(pieces.map(({ title }) => title)).toEqual(titles)
  })

  it('R75 may begin with a byte order mark', async () => {
    const sections = await markdownSections('\uFEFF# One\n\n1\n\n# Two\n\n2\n')
    expect(sections.map(({ key }) => key)).toEqual(['one', 'two'])
  })

  it('R75 is never changed by being split', () => {
    const line = fc.constantFrom(
      '# A',
      '## B ',
      '```',
      '~~~~',
      '    x',
      '<!-- a',
      '-->',
      'a',
      '',
      '---',
      '===',
      '<pre>',
      '\r',
      '\ttext',
      '- x',
      '> # q',
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof(line, fc.string()), { maxLength: 60 }),
        fc.constantFrom('\n', '\r\n'),
        (lines, eol) => {
          const text = lines.join(eol)
          expect(
            splitMarkdown(text)
              .map(({ heading, body }) => heading + body)
              .join(''),
          ).toBe(text)
        },
      ),
    )
  })

  it.each([
    ['no heading', 'Only this.', ['introduction']],
    ['the same heading twice', '# A\n# A\n# 日本\n', ['a', 'a-2', 'introduction']],
    ['odd headings', '# __proto__\n# constructor\n', ['proto', 'constructor']],
    ['nothing', '', []],
  ])('R75 may have %s', async (_, text, keys) => {
    expect((await markdownSections(text)).map(({ key }) => key)).toEqual(keys)
  })

  it.each([
    ['headings', '# a\n'],
    ['fences', '```\n'],
    ['comments', '<!--\n'],
    ['brackets', '# [[[[[[[[[[\n'],
    ['underlines', 'a\n\n---\n\n'],
    ['stars', '*'.repeat(50)],
  ])('R75 is split in linear time, with 4 MB of %s', async (_, part) => {
    const getCpuMs = startCpuClock()
    await markdownSections(part.repeat(Math.ceil((4 * 1024 * 1024) / part.length)))
    expect(getCpuMs()).toBeLessThan(20_000)
  })
})
