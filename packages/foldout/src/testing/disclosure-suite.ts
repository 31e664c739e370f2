import { beforeEach, describe, expect, it } from 'vitest'
import type { DisclosureStrategy } from '../disclosure/strategy.ts'
import { definePrompt } from '../prompt/prompt.ts'
import { defineSection } from '../prompt/section.ts'
import { createSession, type Session } from '../session/session.ts'
import { defineSlice } from '../session/slice.ts'
import { visibility } from '../session/visibility.ts'
import { createMemoryFilesystem } from '../files/memory-filesystem.ts'
import { ok } from '../tools/result.ts'
import { defineTool } from '../tools/tool.ts'
import { createConversation, type Conversation } from './conversation.ts'

/** What the suite must know of a strategy: where it differs from the others on purpose, and in what words. */
export interface DisclosureExpectations {
  /** The tools offered while sections with and without tools are folded. */
  readonly tools: readonly string[]
  /** The tool with which the suite opens a section. */
  readonly toolFor: (kind: 'content' | 'tools') => string
  /** What happens on opening a section, by what it has, where tools can be added and where they cannot. */
  readonly opens: {
    readonly content: 'in the result' | 'by restart' | 'in a file'
    readonly tools: 'by injection' | 'by restart'
  }
  /** What becomes of a section that is already full. */
  readonly alreadyFull: 'answered' | 'refused'
  /** The last lines of summaries. */
  readonly suffixes: {
    readonly content: string
    readonly contentWithChildren: string
    readonly tools: string
    readonly toolsWithChildren: string
  }
}

const isOn = defineSlice({ name: 'is-on', initial: true, reducers: { off: () => false } })
const tool = (name: string) => defineTool({ name, description: `Does ${name}.`, execute: () => ok('done') })
const folded = { visibility: 'summary' } as const

const prompt = definePrompt({
  ns: 'suite',
  key: 'disclosure',
  sections: [
    defineSection({ key: 'intro', title: 'Intro', template: 'Read me first.' }),
    defineSection({
      key: 'guide',
      title: 'Guide',
      template: 'The guide for ${product}.',
      summary: 'A guide.',
      ...folded,
    }),
    defineSection({
      key: 'manual',
      title: 'Manual',
      template: 'The manual.',
      summary: 'A manual.',
      ...folded,
      children: [
        defineSection({ key: 'setup', title: 'Setup', template: 'How to set up.' }),
        defineSection({ key: 'limits', title: 'Limits', template: 'All the limits.', summary: 'Limits.', ...folded }),
        defineSection({ key: 'secret', title: 'Secret', template: 'Nobody sees this.', enabled: () => false }),
      ],
    }),
    defineSection({
      key: 'verify',
      title: 'Verify',
      template: 'Verify with care.',
      summary: 'Verification.',
      ...folded,
      tools: [tool('verify')],
    }),
    defineSection({
      key: 'admin',
      title: 'Admin',
      template: 'Administration.',
      summary: 'Administration.',
      ...folded,
      children: [
        defineSection({
          key: 'users',
          title: 'Users',
          template: 'Users.',
          summary: 'User administration.',
          ...folded,
          tools: [tool('add_user')],
          children: [defineSection({ key: 'roles', title: 'Roles', template: 'Roles.', tools: [tool('add_role')] })],
        }),
        defineSection({ key: 'audit', title: 'Audit', template: 'Audit.' }),
      ],
    }),
    defineSection({
      key: 'optional',
      title: 'Optional',
      template: 'Optional.',
      summary: 'Optional things.',
      enabled: (_, { session }) => session.get(isOn),
      ...folded,
    }),
  ],
})

/** What every disclosure strategy must do. Run it on your own. */
export function disclosureSuite(disclosure: DisclosureStrategy, expected: DisclosureExpectations): void {
  describe.each([true, false])(`${disclosure.name}, dynamic tools: %s`, (dynamicTools) => {
    let session: Session
    let conversation: Conversation
    const files = () => createMemoryFilesystem({})
    let filesystem = files()
    beforeEach(() => {
      session = createSession({ slices: [isOn] })
      filesystem = files()
      conversation = createConversation({
        bound: prompt.bind({ product: 'Acme' }),
        session,
        disclosure,
        dynamicTools,
        filesystem,
      })
    })
    const open = (kind: 'content' | 'tools', ...keys: string[]) => {
      const name = expected.toolFor(kind)
      return conversation.call(
        name,
        name === 'read_section' ? { section_key: keys[0] } : { section_keys: keys, reason: 'needed' },
      )
    }
    const node = (path: string) => conversation.rendered.nodes.find((candidate) => candidate.path === path)!.text
    const offered = () => conversation.rendered.tools.map(({ name }) => name)
    const kinds = [...new Set(['content', 'tools'] as const)]

    it('R11 R26 offers its tools after all others, while something is folded', () => {
      expect(offered()).toEqual(expected.tools)
      const everything = Object.fromEntries(
        ['guide', 'manual', 'manual.limits', 'verify', 'admin', 'admin.users', 'optional'].map((path) => [
          path,
          'full' as const,
        ]),
      )
      const open = prompt.bind({ product: 'Acme' }).render({ disclosure, session, visibility: everything })
      expect(open.tools.map(({ name }) => name)).toEqual(['verify', 'add_user', 'add_role'])
    })

    it('R26 its tools describe their fields in the JSON Schema', () => {
      for (const { inputSchema } of conversation.rendered.tools) {
        for (const field of Object.values(inputSchema['properties'] as Record<string, { description: string }>)) {
          expect(field.description.length).toBeGreaterThan(40)
        }
      }
    })

    it('R27 its summaries end in its own words', () => {
      const formatSuffix = (path: string) => node(path).split('\n---\n')[1]
      expect(formatSuffix('guide')).toBe(expected.suffixes.content)
      expect(formatSuffix('manual')).toBe(expected.suffixes.contentWithChildren)
      expect(formatSuffix('verify')).toBe(expected.suffixes.tools)
      expect(formatSuffix('admin')).toBe(expected.suffixes.toolsWithChildren)
    })

    it('R30 opening a section without tools shows its text', async () => {
      const result = await open('content', 'guide')
      expect(result.ok).toBe(true)
      if (expected.opens.content === 'in the result') {
        expect(result.message).toBe('# Guide\n\nThe guide for Acme.')
        expect(conversation.restarts).toBe(0)
        expect(session.get(visibility)).toEqual({ guide: 'full' })
      } else if (expected.opens.content === 'in a file') {
        expect(result.message).toBe('Section content written to: context/guide.md')
        expect(await filesystem.read('context/guide.md')).toBe('# Guide\n\nThe guide for Acme.')
        expect(conversation.restarts).toBe(0)
        expect(session.get(visibility)).toEqual({})
      } else {
        expect(node('guide')).toBe('## 2 Guide\n\nThe guide for Acme.')
        expect(conversation.restarts).toBe(1)
        expect(session.get(visibility)).toEqual({ guide: 'full' })
      }
    })

    it('R28 R30 opening a section with tools makes them callable', async () => {
      const result = await open('tools', 'verify')
      expect(result.ok).toBe(true)
      expect(session.get(visibility)).toEqual({ verify: 'full' })
      expect(conversation.tools.has('verify')).toBe(true)
      const isInjected = dynamicTools && expected.opens.tools === 'by injection'
      expect(conversation.restarts).toBe(isInjected ? 0 : 1)
      if (isInjected) expect(result.message).toBe('# Verify\n\nVerify with care.')
      else expect(node('verify')).toBe('## 4 Verify\n\nVerify with care.')
    })

    it('R30 children are shown at their own visibility, and summarised ones keep their suffix', async () => {
      await open('content', 'manual')
      const file = await filesystem.read('context/manual.md').catch(() => '')
      const text = [...conversation.texts, file].join('\n')
      expect(text).toContain('How to set up.')
      expect(text).toContain('with key "manual.limits"')
      expect(text).not.toContain('All the limits.')
      expect(text).not.toContain('Nobody sees this.')
    })

    it('R30 content by itself begins at `# Title`, without numbers', async () => {
      const result = await open('content', 'manual')
      const standalone =
        expected.opens.content === 'in a file' ? await filesystem.read('context/manual.md') : result.message
      if (expected.opens.content === 'by restart')
        return expect(standalone).toBe('Sections requested for expansion: manual.')
      expect(standalone.split('\n\n---\n')[0]).toBe(
        '# Manual\n\nThe manual.\n\n## Setup\n\nHow to set up.\n\n## Limits\n\nLimits.',
      )
    })

    it('R30 opening a section below a folded one opens the folded one too', async () => {
      await open('tools', 'admin.users')
      expect(session.get(visibility)).toEqual({ admin: 'full', 'admin.users': 'full' })
      const text = conversation.texts.join('\n')
      for (const shown of ['Administration.', 'Users.', 'Roles.', 'Audit.']) expect(text).toContain(shown)
      expect([...conversation.tools.keys()]).toEqual(expect.arrayContaining(['add_user', 'add_role']))
    })

    it('R29 an unknown key fails with the nearest keys, and nothing has changed', async () => {
      for (const kind of kinds) {
        const result = await open(kind, 'gide')
        expect(result).toMatchObject({
          ok: false,
          message: expect.stringMatching(/^Section 'gide' does not exist in this prompt\. Nearest keys: guide, /),
        })
      }
      await expectUnchanged()
    })

    it('R29 a disabled section does not exist', async () => {
      for (const kind of kinds) {
        expect(await open(kind, 'manual.secret')).toMatchObject({
          ok: false,
          message: expect.stringContaining("Section 'manual.secret' does not exist in this prompt."),
        })
      }
      session.dispatch(isOn.events.off())
      expect(await open('content', 'optional')).toMatchObject({
        ok: false,
        message: expect.stringContaining("Section 'optional' does not exist in this prompt."),
      })
      await expectUnchanged()
    })

    it('R29 a section that is already full', async () => {
      const result = await open('content', 'intro')
      if (expected.alreadyFull === 'answered')
        expect(result).toMatchObject({ ok: true, message: 'Section is already expanded.\n\n# Intro\n\nRead me first.' })
      else expect(result).toEqual({ ok: false, message: "Section 'intro' is already expanded." })
      await expectUnchanged()
    })

    it('R29 what was opened before is already full, also for a tool offered before', async () => {
      await open('tools', 'verify')
      const again = await open('tools', 'verify')
      const isRead = expected.toolFor('tools') === 'read_section'
      expect(again.message).toBe(
        isRead
          ? 'Section is already expanded.\n\n# Verify\n\nVerify with care.'
          : "Section 'verify' is already expanded.",
      )
      expect(again).not.toHaveProperty('opening')
    })

    if (expected.tools.includes('open_sections')) {
      it('R29 an empty list, and one bad key among good ones, fail the whole call', async () => {
        const call = (keys: readonly string[]) =>
          conversation.call('open_sections', { section_keys: keys, reason: 'x' })
        expect(await call([])).toEqual({ ok: false, message: 'At least one section key must be provided.' })
        expect(await call(['guide', 'nope'])).toMatchObject({ ok: false })
        expect(await call(['guide', 'intro'])).toEqual({ ok: false, message: "Section 'intro' is already expanded." })
        await expectUnchanged()
      })

      it('R26 a long reason is cut and a missing one is no fault', async () => {
        const long = await conversation.call('open_sections', { section_keys: ['verify'], reason: 'x'.repeat(500) })
        expect(long.ok && long.opening?.reason).toBe('x'.repeat(256))
        expect(await conversation.call('open_sections', { section_keys: ['admin', 'admin'] })).toMatchObject({
          ok: true,
          opening: { keys: ['admin'], reason: '' },
        })
      })
    }

    async function expectUnchanged(): Promise<void> {
      expect(session.get(visibility)).toEqual({})
      expect(conversation.restarts).toBe(0)
      expect(await filesystem.list('')).toEqual([])
    }
  })
}
