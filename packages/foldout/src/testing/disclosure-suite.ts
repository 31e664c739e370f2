import { beforeEach, describe, expect, it } from 'vitest'
import type { DisclosureStrategy } from '../disclosure/strategy.ts'
import { definePrompt } from '../prompt/prompt.ts'
import { defineSection } from '../prompt/definition/section.ts'
import { createSession, type Session } from '../session/session.ts'
import { defineSlice } from '../session/slice.ts'
import { visibility } from '../session/visibility.ts'
import { createMemoryFilesystem } from '../files/memory-filesystem.ts'
import { ok, type ToolResult } from '../tools/result.ts'
import { defineTool } from '../tools/tool.ts'
import { createConversation, type Conversation } from './conversation.ts'

/**
 * Options of {@link disclosureSuite}: the ways in which strategies differ on purpose. The calls come from the
 * strategy's `getCalls`. Only the last lines of its summaries are compared.
 *
 * @example
 * ```ts
 * const expectations: DisclosureExpectations = {
 *   tools: ['unfold'],
 *   opens: { content: 'in the result', tools: 'by injection' },
 *   alreadyFull: { content: 'refused', tools: 'refused' },
 *   suffixes,
 * }
 * ```
 */
export interface DisclosureExpectations {
  /** The tools offered while sections with and without tools are folded. */
  readonly tools: readonly string[]
  /** How a section without tools (`content`) and one with tools (`tools`) are opened. */
  readonly opens: {
    readonly content: 'in the result' | 'by restart' | 'in a file'
    readonly tools: 'by injection' | 'by restart'
  }
  /** How a call for a section that is already open is answered, without tools and with tools. */
  readonly alreadyFull: {
    readonly content: 'answered' | 'refused'
    readonly tools: 'answered' | 'refused'
  }
  /** The file that a section is written to, for strategies that write files. Default `context/<path>.md`. */
  readonly getFile?: (path: string) => string
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

/**
 * Tests the required behavior of every disclosure strategy, on vitest. The strategy needs `getCalls` and
 * `describeCall`.
 *
 * @example
 * ```ts
 * disclosureSuite(unfold, {
 *   tools: ['unfold'],
 *   opens: { content: 'in the result', tools: 'by injection' },
 *   alreadyFull: { content: 'refused', tools: 'refused' },
 *   suffixes,
 * })
 * ```
 */
export function disclosureSuite(disclosure: DisclosureStrategy, expected: DisclosureExpectations): void {
  const { getFile = (path: string) => `context/${path}.md` } = expected
  describe.each([true, false])(`${disclosure.name}, dynamic tools: %s`, (dynamicTools) => {
    let session: Session
    let conversation: Conversation
    let filesystem = createMemoryFilesystem({})
    beforeEach(() => {
      session = createSession({ slices: [isOn] })
      filesystem = createMemoryFilesystem({})
      const bound = prompt.bind({ product: 'Acme' })
      conversation = createConversation({ bound, session, disclosure, dynamicTools, filesystem })
    })
    /** Opens sections with the strategy's calls, and returns the result of the last one. */
    const open = async (...keys: string[]): Promise<ToolResult> => {
      const results = await conversation.open(keys)
      const last = results.at(-1)
      if (!last) throw new Error(`getCalls() of the strategy returns no call that opens ${keys.join(', ')}.`)
      return last
    }
    const getNodeText = (path: string): string | undefined =>
      conversation.rendered.nodes.find((candidate) => candidate.path === path)?.text
    const getOffered = () => conversation.rendered.tools.map(({ name }) => name)
    async function expectUnchanged(): Promise<void> {
      expect(session.get(visibility)).toEqual({})
      expect(conversation.restarts).toBe(0)
      expect(await filesystem.list('')).toEqual([])
    }

    it('R11 R26 offers its tools after all others, while a section is folded', () => {
      expect(getOffered()).toEqual(expected.tools)
      expect(disclosure.toolNames).toEqual(expect.arrayContaining([...expected.tools]))
      const everything = Object.fromEntries(
        ['guide', 'manual', 'manual.limits', 'verify', 'admin', 'admin.users', 'optional'].map((path) => [
          path,
          'full' as const,
        ]),
      )
      const open = prompt.bind({ product: 'Acme' }).render({ disclosure, session, visibility: everything })
      expect(open.tools.map(({ name }) => name)).toEqual(['verify', 'add_user', 'add_role'])
    })

    it('R26 describes its tools to the model', () => {
      for (const { name, description } of conversation.rendered.tools)
        expect({ name, description }).not.toEqual({ name, description: '' })
    })

    it('R27 ends summaries with its own line', () => {
      const getSuffix = (path: string) => getNodeText(path)?.split('\n---\n')[1]
      expect(getSuffix('guide')).toBe(expected.suffixes.content)
      expect(getSuffix('manual')).toBe(expected.suffixes.contentWithChildren)
      expect(getSuffix('verify')).toBe(expected.suffixes.tools)
      expect(getSuffix('admin')).toBe(expected.suffixes.toolsWithChildren)
    })

    it('R36 R40 returns the calls that open a section, and reads the keys back from them', () => {
      for (const key of ['guide', 'verify', 'admin.users']) {
        const calls = disclosure.getCalls?.(conversation.rendered.view, [key]) ?? []
        expect(calls.length).toBeGreaterThan(0)
        for (const { name } of calls) expect(getOffered()).toContain(name)
        expect(calls.flatMap((call) => disclosure.describeCall?.(call).keys)).toEqual([key])
      }
    })

    it('R30 shows the text of a section without tools', async () => {
      const result = await open('guide')
      expect(result.ok).toBe(true)
      if (expected.opens.content === 'in the result') {
        expect(result.message).toContain('# Guide\n\nThe guide for Acme.')
        expect(conversation.restarts).toBe(0)
        expect(session.get(visibility)).toEqual({ guide: 'full' })
      } else if (expected.opens.content === 'in a file') {
        expect(result.message).toContain(getFile('guide'))
        expect(await filesystem.read(getFile('guide'))).toBe('# Guide\n\nThe guide for Acme.')
        expect(conversation.restarts).toBe(0)
        expect(session.get(visibility)).toEqual({})
      } else {
        expect(getNodeText('guide')).toBe('## 2 Guide\n\nThe guide for Acme.')
        expect(conversation.restarts).toBe(1)
        expect(session.get(visibility)).toEqual({ guide: 'full' })
      }
    })

    it('R28 R29 R30 makes the tools of an opened section callable, and says so', async () => {
      const result = await open('verify')
      expect(result.ok).toBe(true)
      expect(session.get(visibility)).toEqual({ verify: 'full' })
      expect(conversation.tools.has('verify')).toBe(true)
      const isInjected = dynamicTools && expected.opens.tools === 'by injection'
      expect(conversation.restarts).toBe(isInjected ? 0 : 1)
      if (isInjected) {
        expect(result.message).toContain('# Verify\n\nVerify with care.')
        expect(result.message.slice(result.message.indexOf('Verify with care.'))).toContain('verify')
      } else expect(getNodeText('verify')).toBe('## 4 Verify\n\nVerify with care.')
    })

    it('R30 shows children at their own visibility, and folded ones keep their last line', async () => {
      await open('manual')
      const file = await filesystem.read(getFile('manual')).catch(() => '')
      const text = [...conversation.texts, file].join('\n')
      expect(text).toContain('How to set up.')
      expect(text).toContain('manual.limits')
      expect(text).not.toContain('All the limits.')
      expect(text).not.toContain('Nobody sees this.')
    })

    it('R30 begins standalone content at `# Title`, without numbers', async () => {
      const result = await open('manual')
      if (expected.opens.content === 'by restart') return
      const standalone =
        expected.opens.content === 'in a file' ? await filesystem.read(getFile('manual')) : result.message
      expect(standalone.split('\n\n---\n')[0]).toBe(
        '# Manual\n\nThe manual.\n\n## Setup\n\nHow to set up.\n\n## Limits\n\nLimits.',
      )
    })

    it('R30 opens the folded sections around an opened section too', async () => {
      await open('admin.users')
      expect(session.get(visibility)).toEqual({ admin: 'full', 'admin.users': 'full' })
      const text = conversation.texts.join('\n')
      for (const shown of ['Administration.', 'Users.', 'Roles.', 'Audit.']) expect(text).toContain(shown)
      expect([...conversation.tools.keys()]).toEqual(expect.arrayContaining(['add_user', 'add_role']))
    })

    it('R36 makes tools callable that become visible without a call', async () => {
      session.dispatch(visibility.events.set({ path: 'verify', visibility: 'full' }))
      expect(await conversation.call('verify', {})).toMatchObject({ ok: true })
    })

    it('R29 answers an unknown key with the nearest folded sections, and changes nothing', async () => {
      const result = await open('gide')
      expect(result).toMatchObject({ ok: false, message: expect.stringContaining('gide') as string })
      expect(result.message).toContain('guide')
      expect(result.message).not.toContain('intro')
      await expectUnchanged()
    })

    it("R29 accepts a section's number or title as its key", async () => {
      for (const key of ['4', 'Verify', '## 4 Verify']) {
        const bound = prompt.bind({ product: 'Acme' })
        const own = createSession({ slices: [isOn] })
        const other = createConversation({ bound, session: own, disclosure, dynamicTools, filesystem })
        // The call for the section's path, with the path replaced by the other name.
        for (const call of disclosure.getCalls?.(other.rendered.view, ['verify']) ?? []) {
          const args = JSON.parse(JSON.stringify(call.arguments).replace('"verify"', JSON.stringify(key))) as unknown
          expect(await other.call(call.name, args)).toMatchObject({ ok: true, opening: { keys: ['verify'] } })
        }
        expect(own.get(visibility)).toEqual({ verify: 'full' })
      }
    })

    it('R29 treats a disabled section as unknown', async () => {
      expect(await open('manual.secret')).toMatchObject({
        ok: false,
        message: expect.stringContaining('manual.secret') as string,
      })
      session.dispatch(isOn.events.off())
      expect(await open('optional')).toMatchObject({
        ok: false,
        message: expect.stringContaining('optional') as string,
      })
      await expectUnchanged()
    })

    it('R29 answers or rejects a call for a section that is already open', async () => {
      const result = await open('intro')
      expect(result.ok).toBe(expected.alreadyFull.content === 'answered')
      if (result.ok) expect(result.message).toContain('# Intro\n\nRead me first.')
      await expectUnchanged()
    })

    it('R29 knows that a section is open, even in a tool that was offered before the opening', async () => {
      const [call] = disclosure.getCalls?.(conversation.rendered.view, ['verify']) ?? []
      await open('verify')
      const again = await conversation.call(call?.name ?? '', call?.arguments)
      expect(again.ok).toBe(expected.alreadyFull.tools === 'answered')
      expect(again).not.toHaveProperty('opening')
    })

    it('R29 fails the whole call if one of several keys is unknown', async () => {
      const calls = disclosure.getCalls?.(conversation.rendered.view, ['guide', 'nope']) ?? []
      if (calls.length > 1) return
      expect(await open('guide', 'nope')).toMatchObject({ ok: false })
      await expectUnchanged()
    })
  })
}
