import { describe, expect, it } from 'vitest'
import {
  createSession,
  defineSection,
  defineTool,
  ok,
  openOrRead,
  openSections,
  readSection,
  runAgent,
  type AnyTool,
} from '../entries/index.ts'
import { visibility } from '../entries/session.ts'
import { calls, callsAll, says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import { flag, fold, named, prepare, show } from './run.fixtures.ts'

const unlock: AnyTool = defineTool({
  name: 'unlock',
  description: 'Opens the vault.',
  execute: (_, { session }) => {
    session.dispatch(visibility.events.set({ path: 'vault', visibility: 'full' }))
    return ok('Unlocked.')
  },
})
const raise: AnyTool = defineTool({
  name: 'raise',
  description: 'Raises the flag.',
  execute: (_, { session }) => {
    session.dispatch(flag.events.raised())
    return ok('Raised.')
  },
})
const bySelector = defineSection({
  key: 'vault',
  title: 'Vault',
  template: 'The vault.',
  summary: 'A vault.',
  visibility: (_, { session }) => (session.get(flag) ? 'full' : 'summary'),
  tools: [named('take')],
})
const byEnabling = defineSection({
  key: 'vault',
  title: 'Vault',
  template: 'The vault.',
  enabled: (_, { session }) => session.get(flag),
  tools: [named('take')],
})

describe.each([
  ['a tool that sets visibility', [show('door', unlock), fold('vault', named('take'))], 'unlock'],
  ['a visibility selector over state', [show('door', raise), bySelector], 'raise'],
  ['an enabled selector over state', [show('door', raise), byEnabling, fold('rest')], 'raise'],
] as const)('R36 a section opened by %s', (_, sections, opener) => {
  it.each([true, false])('R36 adds tools that are offered and can be called, dynamic tools: %s', async (dynamic) => {
    const { run, adapter, getResults, events } = prepare([calls(opener), calls('take'), says('Done.')], {
      sections,
      scripted: { supportsDynamicTools: dynamic },
    })
    const result = await run()
    expect(adapter.requests.map(({ tools }) => tools.includes('take'))).toEqual([false, true, true])
    expect(getResults().at(-1)).toBe('take done.')
    expect(result.turns.map(({ type }) => type)).toEqual([dynamic ? 'injection' : 'restart', 'tools', 'answer'])
    const told = events.find(({ type }) => type === (dynamic ? 'tools/injected' : 'run/expanded'))
    expect(told).toMatchObject({ keys: ['vault'] })
  })

  it('R36 can be called in the same turn', async () => {
    const alone = { ...unlock, exclusive: true }
    const { run, getResults } = prepare([callsAll([opener, {}], ['take', {}]), says('Done.')], {
      sections: sections.map((section) =>
        section.key === 'door' ? show('door', opener === 'unlock' ? alone : { ...raise, exclusive: true }) : section,
      ),
    })
    await run()
    expect(getResults().at(-1)).toMatch(/^take done\.\n\nYour instructions have changed\./)
  })

  it("R36 R66 does not bypass the run's approvals", async () => {
    const { run } = prepare([callsAll([opener, {}], ['take', {}])], {
      sections: sections.map((section) =>
        section.key === 'door' ? show('door', { ...(opener === 'unlock' ? unlock : raise), exclusive: true }) : section,
      ),
      needsApproval: ({ tool }) => tool === 'take',
    })
    expect(await run()).toMatchObject({ status: 'waiting', approvals: [{ tool: 'take', section: 'vault' }] })
  })

  it('R36 R42 is shown to the model with the results of the turn that opened it, and never again', async () => {
    for (const dynamic of [true, false]) {
      const { run, adapter, session, bound } = prepare(
        [callsAll([opener, {}], ['nothing', {}]), calls('take'), says('Done.')],
        { sections: [...sections, fold('other')], scripted: { supportsDynamicTools: dynamic } },
      )
      await run()
      const body = /(?:All of|The) vault\./g
      const sent = adapter.requests.map(
        ({ system, messages }) => `${system}\n${JSON.stringify(messages)}`.match(body)?.length ?? 0,
      )
      expect(sent).toEqual([0, 1, 1])
      const again = scriptedAdapter([says('Again.')], { supportsDynamicTools: dynamic })
      await runAgent(bound, { adapter: again, session, input: 'And now?' })
      const { system, messages } = again.requests[0]!
      expect(`${system}\n${JSON.stringify(messages)}`.match(body)).toHaveLength(1)
      expect(system).toBe(adapter.requests.at(-1)!.system)
      expect(adapter.requests[1]!.system === adapter.requests[0]!.system).toBe(dynamic)
    }
  })

  it('R36 is not described as folded, and reading it again works', async () => {
    const { run, adapter, getResults } = prepare(
      [calls(opener), calls('read_section', { section_key: 'vault' }), calls('take'), says('Done.')],
      { sections: [...sections, fold('other')] },
    )
    await run()
    expect(adapter.requests.at(-1)!.tools).toContain('take')
    expect(getResults()[1]).toMatch(/^Section is already expanded\./)
    expect(getResults()[2]).toBe('take done.')
  })
})

describe('R36 a disclosed tool', () => {
  const sections = [show('door', named('look')), fold('vault', named('take'))]

  it.each([readSection(), openSections(), openOrRead()])(
    'R36 R39 stays callable after a resume, even in a session that does not have it open: $name',
    async (disclosure) => {
      const first = prepare([], { sections, disclosure })
      const [call] = disclosure.getCalls?.(first.bound.render({ disclosure }).view, ['vault']) ?? []
      const opened = await prepare([calls(call!.name, call!.arguments), says('First.')], { sections, disclosure }).run()
      const state = JSON.parse(JSON.stringify(opened.state)) as typeof opened.state
      const again = prepare([calls('take'), says('Second.')], {
        sections,
        disclosure,
        state,
        session: createSession({ slices: [flag] }),
      })
      await again.run()
      expect(again.getResults().at(-1)).toBe('take done.')
    },
  )

  it.each([readSection(), openSections(), openOrRead()])(
    'R36 stays callable when nothing is folded anymore, if it opens sections: $name',
    async (disclosure) => {
      const first = prepare([], { sections, disclosure })
      const [call] = disclosure.getCalls?.(first.bound.render({ disclosure }).view, ['vault']) ?? []
      const open = calls(call!.name, call!.arguments)
      const { state } = await prepare([open, says('First.')], { sections, disclosure }).run()
      const session = createSession({ slices: [flag, visibility.seed({ vault: 'full' })] })
      const again = prepare([open, says('Second.')], { sections, disclosure, state, session })
      await again.run()
      expect(again.bound.render({ session }).tools.map(({ name }) => name)).not.toContain(call!.name)
      expect(again.getResults().at(-1)).toMatch(/already expanded\./)
    },
  )

  it('R36 stays callable when its section is folded again', async () => {
    const lock = defineTool({
      name: 'lock',
      description: 'Locks.',
      execute: (_, { session }) => (
        session.dispatch(visibility.events.set({ path: 'vault', visibility: 'summary' })),
        ok('Locked.')
      ),
    })
    const { run, getResults } = prepare(
      [calls('read_section', { section_key: 'vault' }), calls('lock'), calls('take'), says('Done.')],
      { sections: [show('door', lock), fold('vault', named('take'))] },
    )
    await run()
    expect(getResults().at(-1)).toBe('take done.')
  })
})

describe('R36 hints', () => {
  it('name the nearest tool, and the section to open', async () => {
    const sections = [show('door', named('look')), fold('refunds', named('refund_order'))]
    const { run, getResults } = prepare([calls('refund'), says('Done.')], { sections })
    await run()
    expect(getResults()).toEqual([
      "There is no tool 'refund'. Did you mean refund_order? Open section 'refunds' to get it.",
    ])
  })
  it('quote the model without invisible characters', async () => {
    const hidden = '\u{e0041}\u202e\u200b'
    const { run, getResults } = prepare(
      [calls(`fly${hidden}`), calls('read_section', { section_key: `moon${hidden}` }), says('Done.')],
      { sections: [show('door', named('look')), fold('vault')] },
    )
    await run()
    expect(getResults()).toEqual([
      "There is no tool 'fly'. Call one of the tools in your list.",
      "Section 'moon' does not exist in this prompt.",
    ])
  })
})
