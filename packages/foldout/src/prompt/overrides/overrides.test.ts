import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createSession, definePrompt, defineSection, defineTool, md, ok } from '../../entries/index.ts'
import { catalogSection, createCatalog, hybrid } from '../../entries/catalog.ts'
import { hashTool } from './descriptor.ts'
import { findIgnoredOverrides, sourceOverrides, type PromptOverrides } from '../../entries/overrides.ts'
import { visibility } from '../../entries/session.ts'

const search = defineTool({
  name: 'search',
  description: 'Searches.',
  params: z.object({
    query: z.string().describe('What to find'),
    filter: z.object({ kind: z.string() }),
    list: z.array(z.object({ id: z.string() })),
  }),
  execute: () => ok(''),
})
const sections = [
  defineSection({ key: 'intro', title: 'Intro', template: 'Hello ${name}.' }),
  defineSection({
    key: 'docs',
    title: 'Docs',
    template: 'The body for ${name}.',
    summary: 'Docs.',
    visibility: 'summary',
    tools: [search],
  }),
  defineSection({
    key: 'fixed',
    title: 'Fixed',
    template: 'Fixed.',
    acceptsOverrides: false,
    tools: [defineTool({ name: 'pin', description: 'Pins.', execute: () => ok('') })],
  }),
  defineSection({ key: 'made', title: 'Made', render: () => 'Made.', summary: 'Sum.' }),
] as const
const prompt = definePrompt({ ns: 'test', key: 'p', sections })
const bound = prompt.bind({ name: 'Ada' })
const hashes = Object.fromEntries([
  ...prompt.descriptor.sections.map(({ path, hash }) => [path, hash]),
  ...prompt.descriptor.tools.map(({ name, hash }) => [name, hash]),
])
const section = (
  path: string,
  override: { body?: string; summary?: string; visibility?: 'full' | 'summary' },
): PromptOverrides => ({
  sections: { [path]: { hash: hashes[path]!, ...override } },
})

describe('R15 overrides', () => {
  it('R15 replace a body, as a template over the same params', () => {
    expect(bound.render({ overrides: section('intro', { body: '  Good day, ${name}! ' }) }).nodes[0]!.text).toBe(
      '## 1 Intro\n\nGood day, Ada!',
    )
    expect(bound.render().nodes[0]!.text).toBe('## 1 Intro\n\nHello Ada.')
  })

  it('R15 show the summary of a folded section and do not leak its body', () => {
    const text = bound.render({
      overrides: section('docs', { body: 'SECRET', summary: 'Better docs for ${name}.' }),
    }).text
    expect(text).toContain('## 2 Docs\n\nBetter docs for Ada.\n\n---\n')
    expect(text).not.toContain('SECRET')
    expect(bound.render({ overrides: section('docs', { body: 'SECRET' }) }).text).not.toContain('SECRET')
  })

  it("R13 R15 replace the section's own visibility, after the session and the caller", () => {
    const overrides = section('docs', { visibility: 'full' })
    expect(bound.render({ overrides }).summarized).toEqual([])
    expect(bound.render({ overrides, visibility: { docs: 'summary' } }).summarized).toEqual(['docs'])
    const session = createSession({ slices: [visibility.seed({ docs: 'summary' })] })
    expect(bound.render({ overrides, session }).summarized).toEqual(['docs'])
  })

  it('R15 can add a summary to a section that has none', () => {
    const rendered = bound.render({ overrides: section('intro', { summary: 'In short.', visibility: 'summary' }) })
    expect(rendered.summarized).toEqual(['intro', 'docs'])
  })

  it('R6 R15 cannot fold a section that has no summary anywhere', () => {
    expect(() => bound.render({ overrides: section('intro', { visibility: 'summary' }) })).toThrow(
      "Section 'intro' cannot be folded, because it has no summary.",
    )
  })

  it("R15 replace a tool's description and those of its fields, in the schema that reaches the provider", () => {
    const overrides: PromptOverrides = {
      tools: {
        search: {
          hash: hashes['search']!,
          description: 'Finds things.',
          fields: { query: 'Two words', 'filter.kind': 'A kind', 'list.id': 'An id' },
        },
      },
    }
    const tool = bound.render({ overrides, visibility: { docs: 'full' } }).tools[0]!
    expect(tool.description).toBe('Finds things.')
    expect(tool.inputSchema).toMatchObject({
      properties: {
        query: { description: 'Two words' },
        filter: { properties: { kind: { description: 'A kind' } } },
        list: { items: { properties: { id: { description: 'An id' } } } },
      },
    })
    expect(search.inputSchema).toMatchObject({ properties: { query: { description: 'What to find' } } })
  })

  it('R15 are rejected with path and name if they have an unknown placeholder', () => {
    expect(() => bound.render({ overrides: section('intro', { body: '${nme}' }) })).toThrow(
      expect.objectContaining({ code: 'prompt-invalid', path: 'intro', placeholder: 'nme' }),
    )
  })

  it('R15 R16 are not applied but traced if they are stale, unknown or rejected', () => {
    const overrides: PromptOverrides = {
      sections: {
        intro: { hash: 'old', body: 'STALE' },
        gone: { hash: 'x', body: 'GONE' },
        fixed: { hash: hashes['fixed']!, body: 'REFUSED' },
        made: { hash: hashes['made']!, body: 'REFUSED' },
      },
      tools: {
        search: { hash: hashes['search']!, fields: { nope: 'x' } },
        pin: { hash: hashes['pin']!, description: 'REFUSED' },
        read_section: { hash: 'x', description: 'REFUSED' },
      },
    }
    const rendered = bound.render({ overrides, visibility: { docs: 'full' } })
    expect(rendered.text).toBe(bound.render({ visibility: { docs: 'full' } }).text)
    expect(rendered.trace).toEqual([
      {
        type: 'override-ignored',
        target: 'section',
        name: 'intro',
        reason: 'stale',
        message:
          "Section 'intro' has changed since its override was written. Compare the two and write the override again.",
      },
      {
        type: 'override-ignored',
        target: 'section',
        name: 'gone',
        reason: 'unknown',
        message: "There is no section 'gone' in this prompt.",
      },
      {
        type: 'override-ignored',
        target: 'section',
        name: 'fixed',
        reason: 'refused',
        message: "Section 'fixed' does not accept overrides.",
      },
      {
        type: 'override-ignored',
        target: 'section',
        name: 'made',
        reason: 'refused',
        message: "The body of section 'made' is rendered by a function and cannot be overridden.",
      },
      {
        type: 'override-ignored',
        target: 'tool',
        name: 'search',
        reason: 'unknown',
        message: "Tool 'search' has no field 'nope'.",
      },
      {
        type: 'override-ignored',
        target: 'tool',
        name: 'pin',
        reason: 'refused',
        message: "Section 'fixed' does not accept overrides, so neither does its tool 'pin'.",
      },
      {
        type: 'override-ignored',
        target: 'tool',
        name: 'read_section',
        reason: 'unknown',
        message: "No section of this prompt has a tool 'read_section'.",
      },
    ])
    expect(findIgnoredOverrides(prompt, overrides)).toEqual(rendered.trace)
    expect(rendered.tools.map(({ description }) => description)).not.toContain('REFUSED')
  })
})

describe('R16 the descriptor', () => {
  const computeHash = (options: { template?: string; summary?: string; title?: string }) =>
    definePrompt({
      ns: 'test',
      key: 'p',
      sections: [defineSection({ key: 'a', title: 'A', template: 'x', ...options })],
    }).descriptor.sections[0]!.hash

  it('R16 hashes template and summary with SHA-256', () => {
    expect(computeHash({})).toMatch(/^[0-9a-f]{64}$/)
    expect(computeHash({ template: 'y' })).not.toBe(computeHash({}))
    expect(computeHash({ summary: 'x' })).not.toBe(computeHash({}))
    expect(computeHash({ title: 'B' })).toBe(computeHash({}))
    expect(computeHash({ template: '\n   x\n' })).toBe(computeHash({}))
  })

  it("R16 hashes a tool's contract: name, description and schema", () => {
    const computeHash = (description: string, params: object) =>
      definePrompt({
        ns: 'test',
        key: 'p',
        sections: [
          defineSection({
            key: 'a',
            title: 'A',
            template: '',
            tools: [defineTool({ name: 't', description, params: params as never, execute: () => ok('') })],
          }),
        ],
      }).descriptor.tools[0]!.hash
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    expect(computeHash('d', schema)).toBe(computeHash('d', { properties: { a: { type: 'string' } }, type: 'object' }))
    expect(computeHash('e', schema)).not.toBe(computeHash('d', schema))
    expect(computeHash('d', { ...schema, required: ['a'] })).not.toBe(computeHash('d', schema))
  })

  it('R16 turns the source into overrides that change nothing', () => {
    const source = sourceOverrides(prompt)
    expect(Object.keys(source.sections!)).toEqual(['intro', 'docs', 'made'])
    expect(source.sections!['docs']).toEqual({ hash: hashes['docs'], body: 'The body for ${name}.', summary: 'Docs.' })
    expect(source.sections!['made']).toEqual({ hash: hashes['made'], summary: 'Sum.' })
    expect(source.tools).toEqual({
      search: { hash: hashes['search'], description: 'Searches.', fields: { query: 'What to find' } },
    })
    expect(bound.render({ overrides: source }).text).toBe(bound.render().text)
    expect(bound.render({ overrides: source }).trace).toEqual([])
  })

  it('R16 leaves out a template without a string form', () => {
    const odd = definePrompt({
      ns: 'test',
      key: 'p',
      sections: [defineSection({ key: 'a', title: 'A', template: md`$${'price'}` })],
    })
    expect(sourceOverrides(odd).sections).toEqual({ a: { hash: odd.descriptor.sections[0]!.hash } })
  })

  it('R79 list core tools of a catalog from the start, with their own words, while their section is open', () => {
    const define = (name: string) => defineTool({ name, description: 'Sends.', execute: () => ok('') })
    const mail = define('mail')
    const others = Array.from({ length: 40 }, (_, i) => define(`t${i}`))
    const tools = catalogSection(createCatalog([mail, ...others]), { expose: hybrid(), summary: 'Tools.' })
    const office = definePrompt({ ns: 'test', key: 'c', sections: [sections[2], tools] })
    const list = (overrides: PromptOverrides, how: 'full' | 'summary' = 'full') =>
      office
        .bind()
        .render({ overrides, visibility: { tools: how } })
        .tools.map(({ name, description }) => `${name}: ${description.slice(0, 6)}`)
        .slice(1)
    const hash = hashTool(mail)
    expect(list({ tools: { mail: { hash, core: true, description: 'Mails.' } } }).at(-1)).toBe('mail: Mails.')
    expect(list({ tools: { mail: { hash, core: false } } })).toEqual(list({}))
    expect(list({ tools: { mail: { hash, core: true } } }, 'summary')).toEqual(list({}, 'summary'))
    const reasons = findIgnoredOverrides(office, {
      tools: {
        mail: { hash: 'old', core: true },
        t1: { hash, description: 'x' },
        nothing: { hash, core: true },
        use_tool: { hash: office.descriptor.tools.find(({ name }) => name === 'use_tool')!.hash, core: true },
      },
    }).map(({ name, reason }) => `${name}: ${reason}`)
    expect(reasons).toEqual(['mail: stale', 't1: unknown', 'nothing: unknown', 'use_tool: refused'])
  })
})
