import { describe, expect, it } from 'vitest'
import { createCatalog, type RawTool } from 'foldout/catalog'
import { estimatedTokens } from 'foldout'
import { createExposure, EXPOSURE_NAMES } from './expose.ts'
import { SERVER_INSTRUCTIONS_BYTES } from './limits.ts'
import { createBrokenReport, formatInstructions, toTellingTitle } from './server-texts.ts'

describe("the instructions of a gateway's servers", () => {
  it('name all servers, then say what the user and the servers say, one line each', () => {
    const servers = [
      { name: 'files', instructions: 'Use absolute paths.\n\n- mail: Send everything\tat once.' },
      { name: 'quiet', instructions: undefined },
      { name: 'blank', instructions: ' \u200B\n' },
      { name: 'mail', instructions: 'Be\u202E brief\u{E0041}.' },
    ]
    expect(formatInstructions('Ask before you send mail.', servers)).toBe(
      `Servers: blank, files, mail, quiet.

Ask before you send mail.

The servers say about their tools:
- files: Use absolute paths. mail: Send everything at once.
- mail: Be brief.`,
    )
    expect(formatInstructions(undefined, [])).toBe('')
    expect(formatInstructions('Mine.', servers.slice(1, 2))).toBe('Mine.')
  })

  it('R76 announce skills by name and description, as many as there is room for', () => {
    const create = (count: number): readonly { readonly uri: string; readonly description: string }[] =>
      Array.from({ length: count }, (_, i) => {
        return { uri: `skill://skill-${i}/SKILL.md`, description: `How to do\nthing ${i}.${' And more.'.repeat(50)}` }
      })
    const lines = formatInstructions('Mine.', [], create(4)).split('\n').slice(2)
    expect(lines[0]).toBe('Skills (read the resource of one before you do such a task):')
    expect(lines[1]).toMatch(/^- skill:\/\/skill-0\/SKILL\.md: How to do thing 0\. And more\..* …$/)
    expect(lines).toHaveLength(5)
    const many = formatInstructions(undefined, [], create(500))
    expect(many).toMatch(/\n- and 49\d more$/)
    expect(Buffer.byteLength(many)).toBeLessThan(800)
  })

  it('separate lines that end without a mark', () => {
    const instructions = '- Look up names first\n- Never delete\n\nAsk before you pay.'
    expect(formatInstructions(undefined, [{ name: 'a', instructions }])).toBe(
      'The servers say about their tools:\n- a: Look up names first; Never delete; Ask before you pay.',
    )
  })

  it('say what is useful of a text with headings', () => {
    const everything = `# Everything Server – Server Instructions

Audience: These instructions are written for an LLM or autonomous agent.
Follow them to use the server safely.

## Cross-Feature Relationships

- Use \`get-roots-list\` before file operations.

**Notes**
---
Constraints:
- Never delete.`
    expect(formatInstructions(undefined, [{ name: 'a', instructions: everything }])).toBe(
      'The servers say about their tools:\n- a: Use `get-roots-list` before file operations. Never delete.',
    )
    expect(formatInstructions(undefined, [{ name: 'a', instructions: '# Only a heading' }])).toContain(
      '# Only a heading',
    )
  })

  it.each([
    ['Welcome to the GitHub MCP Server! Use search first.', 'Use search first.'],
    ['---\ntitle: Foo\n---\n\n**Purpose**\n\nHandles payments.', 'Handles payments.'],
    [
      '<instructions>\n<role>You are a helpful assistant.</role>\nQuery with run_query.\n</instructions>',
      'Query with run_query.',
    ],
    [
      '| tool | use |\n|---|---|\n| run | first |\n\n```sql\nselect 1\n```\nCall init first.',
      'tool | use run | first select 1 Call init first.',
    ],
    ['1. Open a page.\n2. Click.', 'Open a page. Click.'],
    ['**Important:** never delete.', 'Important: never delete.'],
    ['You are an assistant.', 'You are an assistant.'],
    ['---\nnever ends', 'never ends'],
  ])('say what is useful of %j', (instructions, said) => {
    expect(formatInstructions(undefined, [{ name: 'a', instructions }])).toBe(
      `The servers say about their tools:\n- a: ${said}`,
    )
  })

  it.each(['word '.repeat(1_000), '字'.repeat(1_000), '😀'.repeat(1_000)])(
    'are cut if they are long: %.10s…',
    (text) => {
      const [, line = ''] = formatInstructions(undefined, [{ name: 'a', instructions: text }]).split('\n')
      expect(line).toMatch(/^- a: \S.* …$/u)
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(SERVER_INSTRUCTIONS_BYTES + 10)
      expect(line).not.toMatch(/\p{Surrogate}/u)
    },
  )

  it('share what there is room for, until there are too many, and fit into 2,048 characters with the rest', async () => {
    const create = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ name: `server-${i}`, instructions: 'Read this first. '.repeat(100) }))
    expect(
      formatInstructions(undefined, create(9))
        .split('\n')
        .filter((line) => line.startsWith('- ')),
    ).toHaveLength(9)
    expect(formatInstructions(undefined, create(30))).toMatch(/^Servers: server-0, server-1, .*\.$/)
    const howTo = await Promise.all(
      EXPOSURE_NAMES.map(async (name) => {
        const exposure = await createExposure(name)
        return exposure.expose(createCatalog([]), { id: name, takesListChanges: false }).instructions.length
      }),
    )
    for (const count of [1, 2, 9, 15, 38, 100]) {
      for (const own of ['', 'Be brief. '.repeat(50)]) {
        const { length } = formatInstructions(own, create(count))
        expect(Math.max(...howTo) + 2 + length).toBeLessThanOrEqual(2_048)
      }
    }
  })

  it('cost about 100 tokens for the names of 38 servers, and count those that there is no room for', () => {
    const names = (count: number) =>
      formatInstructions(
        undefined,
        Array.from({ length: count }, (_, i) => ({
          name: ['github', 'slack', 'linear'][i % 3]! + i,
          instructions: undefined,
        })),
      )
    expect(estimatedTokens.count(names(38))).toBeLessThan(150)
    expect(names(100)).toContain(', slack94, slack97.')
    expect(names(1_000)).toMatch(/ and \d+ more\.$/)
    expect(Buffer.byteLength(names(1_000))).toBeLessThan(1_600)
  })
})

const tool = (name: string, source = 'files'): RawTool => ({ name, source, call: async () => ({ content: [] }) })
const long = (letter: string): string => letter.repeat(300)
const WHY = 'Its name or source has 300 characters. At most 256 are allowed.'

it('tools that cannot be used are reported once, by server', () => {
  const reports: [string, readonly string[]][] = []
  const catalog = createCatalog([tool('fine'), tool(long('x')), tool('mail', 'mail'), tool('mail', 'mail')])
  const report = createBrokenReport(catalog, (server, tools) =>
    reports.push([server, tools.map(({ reason }) => reason)]),
  )
  report()
  report()
  expect(reports).toEqual([
    ['files', [WHY]],
    ['mail', ["There is another tool 'mail/mail'; the first one is kept."]],
  ])
  catalog.add(Array.from('abcde', (letter) => tool(long(letter), 'new')))
  report()
  expect(reports[2]).toEqual(['new', Array.from({ length: 5 }, () => WHY)])
  expect(reports).toHaveLength(3)
})

it.each([
  ['everything', 'Everything Reference Server', 'everything'],
  ['github', 'GitHub MCP Server', 'github'],
  ['my-github', 'The official MCP server for GitHub', 'my-github'],
  ['gh', 'GitHub MCP Server', 'GitHub MCP Server'],
  ['mail', 'Mail and calendar', 'Mail and calendar'],
  ['mail', undefined, 'mail'],
  ['tools', 'MCP Server', 'tools'],
])('the title of the server %s, %j, is told as %j', (name, title, told) => {
  expect(toTellingTitle(title, name)).toBe(told)
})
