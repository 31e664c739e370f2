import { describe, expect, it, vi } from 'vitest'
import { runAgent } from '../../agent/loop/run-agent.ts'
import { createHost } from '../../agent/hosts/core/host.ts'
import { createCatalog } from '../../catalog/live/catalog.ts'
import { sha256Hex } from '../../core/hash.ts'
import { createMemoryFilesystem } from '../../files/memory-filesystem.ts'
import { definePrompt, type BoundPrompt } from '../../prompt/prompt.ts'
import { createSession } from '../../session/session.ts'
import { calls, says, scriptedAdapter } from '../../testing/scripted-adapter.ts'
import { ok } from '../../tools/result.ts'
import { defineTool } from '../../tools/tool.ts'
import { skillSections, type SkillSectionsOptions } from './skill-sections.ts'
import { openSkill } from './skill-state.ts'

const skill = (name: string, fields = '', body = `How to do ${name}.`): Readonly<Record<string, string>> => ({
  [`${name}/SKILL.md`]: `---\nname: ${name}\ndescription: Use for ${name}.\n${fields}---\n${body}`,
})

async function bind(files: Readonly<Record<string, string>>, options: SkillSectionsOptions = {}): Promise<BoundPrompt> {
  const sections = await skillSections(createMemoryFilesystem(files), options)
  return definePrompt({ ns: 't', key: 't', sections }).bind()
}

const refund = defineTool({ name: 'refund', description: 'Refunds.', execute: () => ok('Refunded.') })
const BRINGS = 'metadata:\n  io.modelcontextprotocol/tools: refund track_parcel\n'

describe('R74 tools that a skill brings', () => {
  it.each([
    ['MCP', 'metadata:\n  io.modelcontextprotocol/tools: refund\n'],
    ['ADK', 'metadata:\n  adk_additional_tools: [refund]\n'],
  ])('R74 come with it in the running conversation, as %s writes them (adk-python 4899)', async (_, fields) => {
    const adapter = scriptedAdapter([calls('read_section', { section_key: 'a' }), calls('refund'), says('Done.')])
    const { messages } = await runAgent(await bind({ ...skill('a', fields) }, { tools: [refund] }), {
      adapter,
      input: 'Go.',
    })
    const read = messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))
    expect(read).toEqual(['# a\n\nHow to do a.\n\nCallable now: refund.', 'Refunded.'])
  })

  it('R74 may be tools of a catalog or of a server, and the text says which are missing (adk 6280)', async () => {
    const track = {
      name: 'track_parcel',
      description: 'Finds it.',
      inputSchema: { type: 'object' },
      call: async () => ({ content: [{ type: 'text', text: 'It is in Ulm.' }] }),
    } as const
    const files = {
      ...skill('a', 'metadata:\n  io.modelcontextprotocol/tools: refund track_parcel fly\n'),
      ...skill('b', BRINGS),
    }
    for (const tools of [[refund, track], createCatalog([refund, track])]) {
      const host = createHost(await bind(files, { tools }))
      const call = { id: 'c1', name: 'read_section', arguments: { section_key: 'a' } }
      const { text, events } = await host.at([]).call(call)
      expect(text).toBe(
        '# a\n\nHow to do a.\n\n---\nTools of this skill that are not available here: fly.\n\nCallable now: refund, track_parcel.',
      )
      const now = host.at(JSON.parse(JSON.stringify(events)) as typeof events)
      expect((await now.call({ id: 'c2', name: 'track_parcel', arguments: {} })).text).toBe('It is in Ulm.')
      expect((await now.call({ id: 'c3', name: 'refund' })).text).toBe('Refunded.')
    }
  })

  it('R74 are not brought by allowed-tools, unless that is asked for', async () => {
    const files = skill('a', 'allowed-tools: refund, Bash(git *)\n')
    const open = { visibility: { a: 'full' } } as const
    expect((await bind(files, { tools: [refund] })).render(open).tools).toEqual([])
    const brought = (await bind(files, { tools: [refund], bringAllowedTools: true })).render(open)
    expect(brought.tools.map(({ name }) => name)).toEqual(['refund'])
  })

  it('R74 need approval whatever allowed-tools says, and who approves reads it', async () => {
    const needsApproval = (): string => 'It costs money.'
    const risky = defineTool({ name: 'refund', description: 'Refunds.', needsApproval, execute: () => ok('Refunded.') })
    const files = { ...skill('a', `${BRINGS}allowed-tools: [refund(*)]\n`), ...skill('b', BRINGS) }
    const host = createHost(await bind(files, { tools: [risky] }), { visibility: { a: 'full', b: 'full' } })
    const need = await host.at([]).findApprovalNeed({ id: 'c', name: 'refund', arguments: {} })
    expect(need).toBe('It costs money. In the allowed-tools of: a.')
  })
})

describe('R74 skills that users open', () => {
  const files = { ...skill('a', 'disable-model-invocation: true\n', 'Review $ARGUMENTS now.'), ...skill('b') }

  it('R74 are hidden from the model until then, and get what the user wrote', async () => {
    const bound = await bind(files)
    const session = createSession()
    const before = bound.render({ session })
    expect(before.text).not.toContain('Use for a.')
    expect(before.view.state('a')).toBeUndefined()
    openSkill(session, 'a', ' src/index.ts ')
    expect(bound.render({ session }).text).toContain('Review src/index.ts now.')
    const later = createSession({ snapshot: structuredClone(session.snapshot()) })
    expect(bound.render({ session: later }).text).toBe(bound.render({ session }).text)
  })

  it('R74 are read in a conversation that has begun', async () => {
    const bound = await bind(
      { ...files, ...skill('c', BRINGS, 'Do $ARGUMENTS[1] after $ARGUMENTS[0].') },
      { tools: [refund] },
    )
    const session = createSession()
    const adapter = scriptedAdapter([says('Hello.'), calls('refund'), says('Done.')])
    await runAgent(bound, { adapter, session, input: 'Hi.' })
    openSkill(session, 'c', 'one two')
    const { messages } = await runAgent(bound, { adapter, session, input: 'Go on.' })
    expect(JSON.stringify([adapter.requests.at(-1)?.system, messages])).toContain('Do two after one.')
    expect(messages.filter(({ role }) => role === 'tool')).toMatchObject([{ text: 'Refunded.' }])
  })

  it('R74 are not opened by users if they are for models only', async () => {
    const bound = await bind(skill('a', 'user-invocable: false\n'))
    const session = createSession()
    openSkill(session, 'a')
    expect(bound.render({ session }).summarized).toEqual(['a'])
    for (const name of ['../a', '__proto__', 'A b']) expect(() => openSkill(session, name)).toThrow('key of a skill')
  })

  it('R74 get what the user wrote at the end if they have no place for it', async () => {
    const bound = await bind(skill('a'))
    const session = createSession()
    openSkill(session, 'a', 'A-17')
    expect(bound.render({ session }).text).toContain('How to do a.\n\nArguments: A-17')
  })
})

describe('R74 scripts of a skill', () => {
  const files = { ...skill('a'), 'a/scripts/fill.py': 'print(1)', ...skill('b') }
  const call = { id: 'c1', name: 'run_skill_script', arguments: { skill: 'a', script: 'scripts/fill.py' } }
  const digest = `sha256:${sha256Hex('print(1)')}`

  it('R74 do not run by default, and are offered only by skills that have some', async () => {
    const visibility = { a: 'full', b: 'full' } as const
    expect((await bind(files)).render({ visibility }).tools.map(({ name }) => name)).toEqual(['read_section'])
    const bound = await bind(files, { runScript: { run: async () => 'x' } })
    const offered = (open: object) => bound.render({ visibility: open }).tools.map(({ name }) => name)
    expect(offered({ b: 'full' })).not.toContain('run_skill_script')
    expect(offered({ a: 'full' })).toContain('run_skill_script')
  })

  it('R74 run as they were approved, by their digest', async () => {
    const filesystem = createMemoryFilesystem(files)
    const run = vi.fn(
      async ({ text, arguments: args }: { text: string; arguments: readonly string[] }) => `${text} ${args.join()}`,
    )
    const sections = await skillSections(filesystem, { runScript: { run } })
    const bound = definePrompt({ ns: 't', key: 't', sections }).bind()
    const now = createHost(bound, { visibility: { a: 'full' } }).at([])
    const need = await now.findApprovalNeed(call)
    expect(need).toBe(`It runs scripts/fill.py of the skill 'a', ${digest}.`)
    expect((await now.call(call, { isApproved: true, need })).text).toBe('print(1) ')
    await filesystem.write('a/scripts/fill.py', 'rm -rf /')
    const refused = 'The script scripts/fill.py is not what was approved. Call it again.'
    for (const other of [need, undefined])
      expect((await now.call(call, { isApproved: true, need: other })).text).toBe(refused)
    expect(run).toHaveBeenCalledTimes(1)
  })

  it('R74 do not run on what anybody may have written into the state of a host', async () => {
    const run = vi.fn(async () => 'x')
    const host = createHost(await bind(files, { runScript: { run } }), { visibility: { a: 'full' } })
    for (const reason of ['Yes.', { toString: () => digest }, undefined])
      expect(
        (
          await host
            .at([{ type: 'askedNeeds/asked', payload: { callId: 'c1', reason } }])
            .call(call, { isApproved: true })
        ).text,
      ).toContain('is not what was approved')
    expect(run).not.toHaveBeenCalled()
  })

  it.each([
    ['print(1)', ['print(1)']],
    ['rm -rf /', []],
  ])(
    'R74 are approved in a run that another process goes on with, if the text is still the same: %s',
    async (now, expected) => {
      const ran: string[] = []
      const filesystem = createMemoryFilesystem(files)
      const create = async (): Promise<BoundPrompt> => {
        const run = async ({ text }: { readonly text: string }): Promise<string> => {
          ran.push(text)
          return 'x'
        }
        const sections = await skillSections(filesystem, { runScript: { run } })
        return definePrompt({ ns: 't', key: 't', sections }).bind()
      }
      const open = calls('read_section', { section_key: 'a' })
      const runs = calls(call.name, call.arguments)
      const asked = await runAgent(await create(), { adapter: scriptedAdapter([open, runs]), input: 'Go.' })
      const { state, approvals } = JSON.parse(JSON.stringify(asked)) as typeof asked
      await filesystem.write('a/scripts/fill.py', now)
      const ended = await runAgent(await create(), {
        adapter: scriptedAdapter([runs, says('Done.')]),
        state,
        approvals: approvals.map((request) => ({ ...request, approved: true })),
      })
      expect(ran).toEqual(expected)
      // The next call is asked about again, with the text as it is now.
      expect(ended.approvals[0]?.reason).toContain(sha256Hex(now))
    },
  )

  it('R74 need no question if their digest is approved already', async () => {
    const bound = await bind(files, {
      runScript: { run: async () => '', isApproved: ({ digest: given }) => given === digest },
    })
    const now = createHost(bound, { visibility: { a: 'full' } }).at([])
    expect(await now.findApprovalNeed(call)).toBe(false)
    expect((await now.call(call)).text).toBe('The script wrote nothing.')
  })

  it.each(['../b/SKILL.md', 'SKILL.md', 'scripts/../SKILL.md', '/etc/passwd', 'scripts/none.py'])(
    'R74 are only those in the folder of scripts: %s',
    async (script) => {
      const run = vi.fn(async () => 'x')
      const now = createHost(await bind(files, { runScript: { run } }), { visibility: { a: 'full' } }).at([])
      const { text } = await now.call({ ...call, arguments: { skill: 'a', script } }, { isApproved: true })
      expect(text).toBe(`The skill 'a' has no script '${script}'. It has: scripts/fill.py.`)
      expect(run).not.toHaveBeenCalled()
    },
  )
})
