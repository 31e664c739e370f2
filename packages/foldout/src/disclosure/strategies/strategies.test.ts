import { describe, expect, it } from 'vitest'
import {
  contextFiles,
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  openOrRead,
  openSections,
  readSection,
  type AnySection,
  type DisclosureStrategy,
  type Filesystem,
} from '../../entries/index.ts'
import { createMemoryFilesystem, filesSection } from '../../entries/files.ts'
import { visibility } from '../../entries/session.ts'
import { createConversation } from '../../testing/conversation.ts'
import { disclosureSuite } from '../../testing/disclosure-suite.ts'

const read = (key: string) =>
  `[This section is summarized. To view full content, call \`read_section\` with key "${key}".]`
const open = (key: string) =>
  `[This section is summarized. To view full content, call \`open_sections\` with key "${key}".]`
const openWith = (key: string, children: string) =>
  `[This section is summarized. Call \`open_sections\` with key "${key}" to view full content including subsections: ${children}.]`
const readWith = (key: string, children: string) => openWith(key, children).replace('open_sections', 'read_section')

disclosureSuite(readSection(), {
  tools: ['read_section'],
  opens: { content: 'in the result', tools: 'by injection' },
  alreadyFull: { content: 'answered', tools: 'answered' },
  suffixes: {
    content: read('guide'),
    contentWithChildren: read('manual'),
    tools: read('verify'),
    toolsWithChildren: read('admin'),
  },
})

disclosureSuite(openSections(), {
  tools: ['open_sections'],
  opens: { content: 'by restart', tools: 'by restart' },
  alreadyFull: { content: 'refused', tools: 'refused' },
  suffixes: {
    content: open('guide'),
    contentWithChildren: openWith('manual', 'setup, limits'),
    tools: open('verify'),
    toolsWithChildren: openWith('admin', 'users, audit'),
  },
})

disclosureSuite(openOrRead(), {
  tools: ['open_sections', 'read_section'],
  opens: { content: 'in the result', tools: 'by injection' },
  alreadyFull: { content: 'answered', tools: 'refused' },
  suffixes: {
    content: read('guide'),
    contentWithChildren: readWith('manual', 'setup, limits'),
    tools: open('verify'),
    toolsWithChildren: openWith('admin', 'users, audit'),
  },
})

disclosureSuite(contextFiles({ readTool: false }), {
  tools: ['open_sections'],
  opens: { content: 'in a file', tools: 'by restart' },
  alreadyFull: { content: 'refused', tools: 'refused' },
  suffixes: {
    content:
      '[This section is summarized. To view full content, call `open_sections` with key "guide". The content will be written to context/guide.md for you to read.]',
    contentWithChildren:
      '[This section is summarized. Call `open_sections` with key "manual" to write content (including subsections: setup, limits) to context/manual.md.]',
    tools:
      '[This section is summarized. To view full content and access additional tools, call `open_sections` with key "verify".]',
    toolsWithChildren:
      '[This section is summarized. Call `open_sections` with key "admin" to view full content including subsections: users, audit. Additional tools may become available.]',
  },
})

const folded = { summary: 's', visibility: 'summary' } as const
const tool = (name: string) => defineTool({ name, description: `Does ${name}.`, execute: () => ok('done') })
const bound = (...sections: AnySection[]) => definePrompt({ ns: 'test', key: 'p', sections }).bind()
const plain = defineSection({ key: 'plain', title: 'Plain', template: 'plain text', ...folded })
const tooled = defineSection({
  key: 'tooled',
  title: 'Tooled',
  template: 'tooled text',
  tools: [tool('act')],
  ...folded,
})

describe.each([readSection(), openSections(), openOrRead(), contextFiles({ readTool: false })])(
  '$name',
  (disclosure) => {
    it('R26 describes the fields of its tools in the JSON Schema', () => {
      const { tools } = bound(plain, tooled).render({ disclosure })
      expect(tools.length).toBeGreaterThan(0)
      for (const { inputSchema } of tools) {
        for (const field of Object.values(inputSchema['properties'] as Record<string, { description: string }>)) {
          expect(field.description.length).toBeGreaterThan(10)
        }
      }
    })
  },
)

describe('openOrRead', () => {
  it('R26 offers each tool only while a folded section needs it', () => {
    const names = (...sections: AnySection[]) =>
      bound(...sections)
        .render({ disclosure: openOrRead() })
        .tools.map(({ name }) => name)
    expect(names(plain)).toEqual(['read_section'])
    expect(names(tooled)).toEqual(['open_sections'])
    expect(names(plain, tooled)).toEqual(['open_sections', 'read_section'])
  })

  it('restarts on open_sections for a section without tools, alone or among others', async () => {
    for (const keys of [['plain'], ['plain', 'tooled']]) {
      const session = createSession()
      const conversation = createConversation({
        bound: bound(plain, tooled),
        session,
        disclosure: openOrRead(),
        dynamicTools: true,
      })
      const result = await conversation.call('open_sections', { section_keys: keys, reason: '' })
      expect(result).toMatchObject({
        ok: true,
        message:
          keys.length === 1
            ? 'Opened: plain. Its text is now in the system prompt.'
            : 'Opened: plain, tooled. Their text is now in the system prompt, and their tools are in your tool list. Callable now: act.',
        opening: { halts: true, paths: keys },
      })
      expect(conversation.restarts).toBe(1)
    }
  })

  it('adds the other disclosure tool when an opening requires it', async () => {
    const outer = defineSection({
      key: 'outer',
      title: 'Outer',
      template: 'o',
      tools: [tool('act')],
      ...folded,
      children: [plain],
    })
    const conversation = createConversation({
      bound: bound(outer),
      session: createSession(),
      disclosure: openOrRead(),
      dynamicTools: true,
    })
    expect([...conversation.tools.keys()]).toEqual(['open_sections'])
    await conversation.call('open_sections', { section_keys: ['outer'], reason: '' })
    expect([...conversation.tools.keys()]).toEqual(['open_sections', 'act', 'read_section'])
    expect(await conversation.call('read_section', { section_key: 'outer.plain' })).toMatchObject({
      ok: true,
      message: '# Plain\n\nplain text',
    })
  })
})

describe('contextFiles', () => {
  const start = (filesystem: Filesystem | undefined, ...sections: AnySection[]) => {
    const session = createSession()
    const conversation = createConversation({
      bound: bound(...sections),
      session,
      disclosure: contextFiles({ readTool: false }),
      dynamicTools: true,
      ...(filesystem ? { filesystem } : {}),
    })
    return {
      session,
      open: (...keys: string[]) => conversation.call('open_sections', { section_keys: keys, reason: 'x' }),
      conversation,
    }
  }

  it('R32 writes one file per key and names it; it can be written again', async () => {
    const filesystem = createMemoryFilesystem()
    const parent = defineSection({ key: 'parent', title: 'Parent', template: 'p', ...folded, children: [plain] })
    const { open, session } = start(filesystem, parent)
    expect(await open('parent', 'parent.plain')).toMatchObject({
      ok: true,
      message: 'Section content written to: context/parent.md, context/parent.plain.md',
      value: { writtenFiles: ['context/parent.md', 'context/parent.plain.md'] },
    })
    expect(await filesystem.read('context/parent.plain.md')).toBe('# Parent\n\np\n\n## Plain\n\nplain text')
    expect(await open('parent')).toMatchObject({ ok: true })
    expect(session.get(visibility)).toEqual({})
  })

  it('R32 fails without a filesystem', async () => {
    expect(await start(undefined, plain).open('plain')).toEqual({
      ok: false,
      message: 'Cannot write context files: no filesystem available.',
    })
  })

  it('restarts for all keys if one has tools, and writes no file', async () => {
    const filesystem = createMemoryFilesystem()
    const { open, session, conversation } = start(filesystem, plain, tooled)
    expect(await open('plain', 'tooled')).toMatchObject({ ok: true, opening: { halts: true } })
    expect(session.get(visibility)).toEqual({ plain: 'full', tooled: 'full' })
    expect(conversation.restarts).toBe(1)
    expect(await filesystem.list('')).toEqual([])
  })

  it('R32 names the key if rendering fails, and writes nothing', async () => {
    const filesystem = createMemoryFilesystem()
    const broken = defineSection({
      key: 'broken',
      title: 'Broken',
      ...folded,
      render: () => {
        throw new Error('no data')
      },
    })
    const result = await start(filesystem, plain, broken).open('plain', 'broken')
    expect(result).toEqual({
      ok: false,
      message: "Failed to write context for 'broken': Section 'broken': its `render` threw: no data",
    })
    expect(await filesystem.list('')).toEqual([])
  })

  it('R32 names the key if writing fails, and leaves no half-written set even without transactions', async () => {
    const inner = createMemoryFilesystem({ 'context/plain.md': 'old' })
    const { begin: _, ...withoutTransactions } = inner
    const failing: Filesystem = {
      ...withoutTransactions,
      write: (path, text) =>
        path.includes('second') ? Promise.reject(new Error('disk full')) : inner.write(path, text),
    }
    const second = defineSection({ key: 'second', title: 'Second', template: 'x', ...folded })
    expect(await start(failing, plain, second).open('plain', 'second')).toEqual({
      ok: false,
      message: "Failed to write context for 'second': disk full",
    })
    expect(await inner.read('context/plain.md')).toBe('old')
    expect(await inner.stat('context/second.md')).toBeUndefined()
  })

  it('rejects a prompt without a tool that reads files, and says what to add', () => {
    const render = (...sections: AnySection[]) => bound(...sections).render({ disclosure: contextFiles() })
    expect(() => render(plain)).toThrow(/contextFiles\(\) writes section 'plain' to a file.*Add filesSection\(\)/)
    expect(() => render(tooled)).not.toThrow()
    expect(() => render(plain, filesSection())).not.toThrow()
    expect(() => bound(plain).render({ disclosure: contextFiles({ readTool: 'act' }) })).toThrow(/'act'/)
    expect(() => bound(plain, tooled).render({ disclosure: contextFiles({ readTool: 'act' }) })).not.toThrow()
    expect(() => bound(plain).render({ disclosure: contextFiles(), visibility: { plain: 'full' } })).not.toThrow()
  })

  it('R27 writes to the given folder', async () => {
    const filesystem = createMemoryFilesystem()
    const disclosure = contextFiles({ folder: 'notes/open', readTool: false })
    const conversation = createConversation({
      bound: bound(plain),
      session: createSession(),
      disclosure,
      dynamicTools: true,
      filesystem,
    })
    expect(conversation.rendered.text).toContain('The content will be written to notes/open/plain.md for you to read.]')
    await conversation.call('open_sections', { section_keys: ['plain'], reason: '' })
    expect(await filesystem.read('notes/open/plain.md')).toBe('# Plain\n\nplain text')
  })
})

describe('texts for models', () => {
  const other = defineSection({ key: 'intro', title: 'Intro', template: 'Hello.' })
  const start = (disclosure: DisclosureStrategy, ...sections: AnySection[]) =>
    createConversation({ bound: bound(other, ...sections), session: createSession(), disclosure, dynamicTools: true })
  const openOf = (conversation: ReturnType<typeof start>) => (keys: readonly string[], reason?: string) =>
    conversation.call('open_sections', { section_keys: keys, ...(reason === undefined ? {} : { reason }) })

  it('R29 ends the result of read_section with the tools that can be called now', async () => {
    const child = defineSection({ key: 'child', title: 'Child', template: 'c', tools: [tool('dig')] })
    const hidden = defineSection({ key: 'hidden', title: 'Hidden', template: 'h', tools: [tool('hide')], ...folded })
    const parent = defineSection({
      key: 'parent',
      title: 'Parent',
      template: 'p',
      tools: [tool('act')],
      ...folded,
      children: [child, hidden],
    })
    const { message } = await start(readSection(), parent, plain).call('read_section', { section_key: 'parent' })
    expect(message.endsWith('\n\nCallable now: act, dig.')).toBe(true)
    expect(await start(readSection(), plain).call('read_section', { section_key: 'plain' })).toMatchObject({
      message: '# Plain\n\nplain text',
    })
  })

  it('R29 answers with the content of an open section, or rejects the call', async () => {
    expect(await start(readSection(), plain).call('read_section', { section_key: 'intro' })).toMatchObject({
      ok: true,
      message: 'Section is already expanded.\n\n# Intro\n\nHello.',
    })
    expect(await openOf(start(openSections(), plain))(['intro'])).toEqual({
      ok: false,
      message: "Section 'intro' is already expanded.",
    })
  })

  it('R29 suggests only folded sections, including nested ones', async () => {
    const parent = defineSection({ key: 'parent', title: 'P', template: 'p', ...folded, children: [plain] })
    expect(await start(readSection(), parent).call('read_section', { section_key: 'parnt' })).toEqual({
      ok: false,
      message: "Section 'parnt' does not exist in this prompt. Nearest keys: parent.",
    })
    expect(await start(readSection(), parent).call('read_section', { section_key: 'parent.plan' })).toMatchObject({
      message: expect.stringContaining('parent.plain') as string,
    })
    // Neither open sections nor dissimilar names are suggested.
    expect(await start(readSection(), parent).call('read_section', { section_key: 'intr' })).toEqual({
      ok: false,
      message: "Section 'intr' does not exist in this prompt.",
    })
    const long = await start(readSection(), plain).call('read_section', { section_key: 'x'.repeat(100_000) })
    expect(long.message.length).toBeLessThan(400)
  })

  it.each([
    '"plain"',
    '`plain`',
    ' plain ',
    '‘plain’',
    '[plain]',
    'plain.',
    '# plain',
    '«Plain»',
    'PLAIN',
    '**Plain**',
  ])('R29 finds a section by %j', async (key) => {
    expect(await start(readSection(), plain).call('read_section', { section_key: key })).toMatchObject({ ok: true })
  })

  it('R29 finds a title whose letters are decomposed, or were when it was defined', async () => {
    const menu = (title: string): AnySection => defineSection({ key: 'menu', title, template: 'm', ...folded })
    for (const [title, key] of [
      ['Café', 'Cafe\u0301'],
      ['Cafe\u0301', 'café'],
    ] as const)
      expect(await start(readSection(), menu(title)).call('read_section', { section_key: key })).toMatchObject({
        ok: true,
      })
  })

  it('R29 suggests a section by the last part of its path, also if that is mistyped', async () => {
    const refunds = defineSection({ key: 'refunds', title: 'How', template: 'r', ...folded })
    const handbook = defineSection({ key: 'handbook-of-the-shop', title: 'H', template: 'h', children: [refunds] })
    for (const key of ['refnds', 'handbook-of-the-shop.refnds', 'shop.refunds'])
      expect(await start(readSection(), handbook).call('read_section', { section_key: key })).toEqual({
        ok: false,
        message: `Section '${key}' does not exist in this prompt. Nearest keys: handbook-of-the-shop.refunds.`,
      })
  })

  it('R29 does not accept a title that several sections share as a key', async () => {
    const twin = defineSection({ key: 'twin', title: 'Plain', template: 'twin text', ...folded })
    expect(await start(readSection(), plain, twin).call('read_section', { section_key: 'Plain' })).toEqual({
      ok: false,
      message: "Several sections are called 'Plain'. Use one of these keys: plain, twin.",
    })
    expect(await start(readSection(), plain, twin).call('read_section', { section_key: '3' })).toMatchObject({
      message: '# Plain\n\ntwin text',
    })
  })

  it.each([openSections(), openOrRead()])('R29 fails a call with an empty list: $name', async (disclosure) => {
    expect(await openOf(start(disclosure, tooled))([])).toEqual({
      ok: false,
      message: 'At least one section key must be provided.',
    })
  })

  it.each([openSections(), openOrRead()])(
    'R26 cuts a long reason, and does not require one: $name',
    async (disclosure) => {
      const long = await openOf(start(disclosure, tooled))(['tooled'], 'x'.repeat(500))
      expect(long.ok && long.opening?.reason).toBe('x'.repeat(256))
      expect(await openOf(start(disclosure, tooled))(['tooled', 'tooled'])).toMatchObject({
        ok: true,
        opening: { keys: ['tooled'], reason: '' },
      })
    },
  )

  it('say what each tool is for', () => {
    const [read] = bound(plain).render({ disclosure: readSection() }).tools
    expect(read?.description).toBe(
      'Read the full content of a summarized section and get its tools. Do this before you say that something cannot be done.',
    )
    const [open] = bound(plain).render({ disclosure: openSections() }).tools
    expect(open?.inputSchema['properties']).toMatchObject({
      // The words of the source document.
      reason: {
        description:
          "Brief explanation of why these sections need to be expanded. Helps the caller understand the model's information needs.",
      },
    })
  })

  it.each([
    ['a tool that is like another', 'act_now', "Did you mean act? Open section 'tooled' to get it."],
    ['a part of a name', 'refund', 'Did you mean refund_order?'],
    ['a slip', 'refnd_order', 'Did you mean refund_order?'],
    ['something else', 'zzzzzz', 'Call one of the tools in your list.'],
    ['a very long name', 'q'.repeat(50_000), 'Call one of the tools in your list.'],
  ])('R36 explain an unknown tool: %s', async (_, name, hint) => {
    const shop = defineSection({ key: 'shop', title: 'Shop', template: '', tools: [tool('refund_order')] })
    const { ok: isOk, message } = await start(readSection(), shop, tooled).call(name, {})
    expect(isOk).toBe(false)
    expect(message).toMatch(/^There is no tool '/)
    expect(message.endsWith(hint)).toBe(true)
    expect(message.length).toBeLessThan(400)
  })
})

describe('known traps', () => {
  const readIn = async (
    sections: AnySection[],
    key: string,
    options: Parameters<ReturnType<typeof bound>['render']>[0] = {},
  ) => {
    const session = createSession()
    const b = bound(...sections)
    const conversation = createConversation({
      bound: { render: (own) => b.render({ ...options, ...own }) },
      session,
      disclosure: readSection(),
      dynamicTools: true,
    })
    return { session, conversation, result: await conversation.call('read_section', { section_key: key }) }
  }

  it('R30 a read includes children without params', async () => {
    const parent = defineSection({
      key: 'p',
      title: 'P',
      template: 'p',
      ...folded,
      children: [defineSection({ key: 'c', title: 'C', template: 'no params here' })],
    })
    expect((await readIn([parent], 'p')).result.message).toBe('# P\n\np\n\n## C\n\nno params here')
  })

  it('R15 R30 a read shows the overridden body', async () => {
    const prompt = definePrompt({ ns: 'test', key: 'p', sections: [plain] })
    const hash = prompt.descriptor.sections[0]!.hash
    const overrides = { sections: { plain: { hash, body: 'better text' } } }
    const { result } = await readIn([plain], 'plain', { overrides })
    expect(result.message).toBe('# Plain\n\nbetter text')
  })

  it("R10 prints the examples of a section's tools only once the section is open", async () => {
    const shown = defineTool({
      name: 'shown',
      description: 'd',
      examples: [{ description: 'An example', input: {}, output: 'out' }],
      execute: () => ok(''),
    })
    const { conversation, result } = await readIn(
      [defineSection({ key: 'a', title: 'A', template: 'x', tools: [shown], ...folded })],
      'a',
    )
    expect(conversation.texts[0]).not.toContain('An example')
    expect(result.message).toContain('- An example')
  })

  it('R23 a snapshot taken after openings restores to the same bytes and tools', async () => {
    const parent = defineSection({ key: 'p', title: 'P', template: 'p', ...folded, children: [plain, tooled] })
    const { session } = await readIn([parent, tooled2()], 'p.tooled')
    const before = bound(parent, tooled2()).render({ session })
    const snapshot = JSON.parse(JSON.stringify(session.snapshot()))
    const restored = createSession({ snapshot })
    const after = bound(parent, tooled2()).render({ session: restored })
    expect(after.text).toBe(before.text)
    expect(after.tools.map(({ name }) => name)).toEqual(before.tools.map(({ name }) => name))
  })

  it('R21 records an opening once', async () => {
    const session = createSession()
    const events: string[] = []
    session.subscribe((event) => events.push(event.type))
    const conversation = createConversation({
      bound: bound(tooled),
      session,
      disclosure: readSection(),
      dynamicTools: true,
    })
    await conversation.call('read_section', { section_key: 'tooled' })
    expect(events).toEqual(['visibility/set'])
  })

  it('says that a section has no content if its renderer returns nothing', async () => {
    const { result } = await readIn([defineSection({ key: 'a', title: 'A', render: () => undefined, ...folded })], 'a')
    expect(result.message).toBe('The section has no content.')
  })

  it('rejects a call that does not match the schema, and quotes the schema', async () => {
    const conversation = createConversation({
      bound: bound(plain),
      session: createSession(),
      disclosure: openSections(),
      dynamicTools: true,
    })
    expect((await conversation.call('open_sections', { section_keys: 'plain' })).message).toMatch(
      /^Wrong arguments for tool 'open_sections': section_keys must be a list, not a string/,
    )
  })
})

function tooled2() {
  return defineSection({ key: 'other', title: 'Other', template: 'x', tools: [tool('other')], ...folded })
}
