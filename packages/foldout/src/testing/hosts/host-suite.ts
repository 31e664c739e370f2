import { describe, expect, it } from 'vitest'
import type { HostCall, HostOptions } from '../../agent/hosts/core/contract.ts'
import type { AgentEvent } from '../../agent/events.ts'
import type { BoundPrompt } from '../../prompt/prompt.ts'
import type { HostDriver, HostRow, HostSetup, ScriptedReply, SeenRequest } from './host-driver.ts'
import { describeAhead } from './ahead-rows.ts'
import { describeScripts } from './script-rows.ts'
import { createDesk, FIRST_TOOLS, type Stage, type StageOptions } from './host-prompt.ts'

const done: ScriptedReply = { text: 'Done.' }
let calls = 0
const call = (name: string, args: object = {}): HostCall => ({ id: `call_${(calls += 1)}`, name, arguments: args })
const opens = (key: string): HostCall => call('read_section', { section_key: key })
const says = (...made: HostCall[]): ScriptedReply => ({ calls: made })

const TEXT_OF_REFUNDS =
  '# refunds\n\nThe whole text of refunds.\n\n## limits\n\nAbout limits.\n\n---\n[This section is summarized. To view full content, call `read_section` with key "refunds.limits".]\n\nCallable now: refund.'

/**
 * Tests what a prompt has to do in somebody else's loop, on vitest: tools that sections bring, text that survives the
 * host's compaction, approvals in another process, branches.
 *
 * @example
 * ```ts
 * hostSuite('my loop', { create: async (setup) => createMyAgent(setup) })
 * ```
 */
export function hostSuite(name: string, driver: HostDriver): void {
  const { ownTools = ['look_up'] } = driver
  const isSkipped = (row: HostRow): boolean => driver.skips?.[row] !== undefined
  const stage = (
    replies: readonly ScriptedReply[],
    { isRestarting = false, hasSkills = false, options }: StageOptions = {},
  ): Stage => {
    const desk = createDesk()
    const requests: SeenRequest[] = []
    const events: AgentEvent[] = []
    const waiting = [...replies]
    const model: HostSetup['model'] = (request) => {
      requests.push(request)
      return waiting.shift() ?? done
    }
    const bind = (): BoundPrompt | Promise<BoundPrompt> => {
      if (hasSkills) return desk.bindSkills()
      if (isRestarting) return desk.restarting
      return desk.bound
    }
    const onEvent = (event: AgentEvent): void => void events.push(event)
    return {
      ...desk,
      requests,
      events,
      async create(saved) {
        const bound = await bind()
        const setup = { bound, options: { onEvent, ...options }, model, ...(saved !== undefined && { saved }) }
        return driver.create(setup)
      },
    }
  }
  /** The tools that the prompt offers in each request, without the host's own. */
  const getLists = ({ requests }: Stage): readonly (readonly string[])[] =>
    requests.map(({ tools }) => tools.filter((tool) => !ownTools.includes(tool)))
  const getResult = ({ requests }: Stage, at: number): string => requests[at]?.results.at(-1) ?? ''

  describe(`R73 ${name}`, () => {
    it('R73 a section brings its tools in the same run (agentskills 53, 330)', async () => {
      const on = stage([says(opens('refunds')), says(call('refund', { order: 'A-17' }))])
      const turn = await (await on.create()).send('Money back for A-17.')
      expect(turn).toEqual({ text: 'Done.', isWaiting: false })
      expect(on.done).toEqual(['refund A-17'])
      expect(getLists(on)).toEqual([FIRST_TOOLS, [...FIRST_TOOLS, 'refund'], [...FIRST_TOOLS, 'refund']])
      expect(getResult(on, 1)).toBe(TEXT_OF_REFUNDS)
      expect(getResult(on, 2)).toBe('refund is done.')
    })

    it('R73 two sections that are opened in one reply bring the tools of both', async () => {
      const on = stage([says(opens('refunds'), opens('shipping')), says(call('ship'), call('refund'))])
      await (await on.create()).send('Go.')
      expect(getLists(on)[1]?.toSorted()).toEqual([...FIRST_TOOLS, 'refund', 'ship'].sort())
      expect(on.done.toSorted()).toEqual(['refund', 'ship'])
    })

    it.skipIf(isSkipped('order'))(
      'R73 the system text stays byte-equal and the list grows at its end, over ten turns (adk 7241)',
      async () => {
        const keys = ['shipping', 'refunds', 'more', 'refunds.limits']
        const on = stage(keys.flatMap((key) => [says(opens(key)), done]))
        const agent = await on.create()
        for (let turn = 0; turn < 10; turn++) await agent.send(`Turn ${turn}.`)
        expect(new Set(on.requests.map(({ system }) => system)).size).toBe(1)
        const lists = getLists(on)
        for (const [at, list] of lists.entries())
          expect(list.slice(0, lists[at - 1]?.length ?? 0)).toEqual(lists[at - 1] ?? [])
        expect(lists.at(-1)).toEqual([...FIRST_TOOLS, 'ship', 'refund', 'search_tools', 'use_tool', 'raise_limit'])
      },
    )

    it.skipIf(isSkipped('hints'))(
      'R73 a tool that is called before its section is open is answered with how to open it, word for word',
      async () => {
        const on = stage([says(call('refund'))])
        await (await on.create()).send('Go.')
        expect(getResult(on, 1)).toBe(
          "Tool 'refund' belongs to the section 'refunds', which is not open yet. Call `read_section` with section_key \"refunds\" first.",
        )
        expect(on.done).toEqual([])
        expect(getLists(on)[1]).toEqual(FIRST_TOOLS)
      },
    )

    it.skipIf(isSkipped('hints'))(
      'R73 a tool that does not exist is answered with the one that was meant, and the run goes on',
      async () => {
        const on = stage([says(call('lok'))])
        expect(await (await on.create()).send('Go.')).toEqual({ text: 'Done.', isWaiting: false })
        expect(getResult(on, 1)).toBe("There is no tool 'lok'. Did you mean look?")
      },
    )

    it('R73 no tool is offered that is not there (adk 6280)', async () => {
      const on = stage([says(opens('nothing')), says(opens('refunds'))])
      await (await on.create()).send('Go.')
      expect(getResult(on, 1)).toBe("Section 'nothing' does not exist in this prompt.")
      expect(getLists(on)).toEqual([FIRST_TOOLS, FIRST_TOOLS, [...FIRST_TOOLS, 'refund']])
    })

    it('R73 nothing is offered or named that has nothing to open (adk 6281, 6448)', async () => {
      const visibility = {
        refunds: 'full',
        'refunds.limits': 'full',
        shipping: 'full',
        vault: 'full',
        payments: 'full',
      }
      const on = stage([], { options: { visibility: { ...visibility, more: 'full' } } as HostOptions })
      await (await on.create()).send('Go.')
      expect(on.requests[0]?.tools).toEqual(expect.arrayContaining(['refund', 'ship', 'search_tools']))
      expect(on.requests[0]?.tools).not.toContain('read_section')
      expect(on.requests[0]?.system).not.toContain('read_section')
    })

    it.skipIf(isSkipped('folding'))(
      'R73 a section that is folded again takes its tools with it, and can be opened again (adk 7241)',
      async () => {
        const script = [says(opens('refunds')), says(call('lock')), says(call('refund')), says(opens('refunds'))]
        const on = stage([...script, says(call('refund'))])
        await (await on.create()).send('Go.')
        const open = [...FIRST_TOOLS, 'refund']
        expect(getLists(on)).toEqual([FIRST_TOOLS, open, FIRST_TOOLS, FIRST_TOOLS, open, open])
        expect(getResult(on, 3)).toBe(
          "Tool 'refund' belongs to the section 'refunds', which is not open yet. Call `read_section` with section_key \"refunds\" first.",
        )
        expect(getResult(on, 4)).toBe(TEXT_OF_REFUNDS)
        expect(on.done).toEqual(['refund'])
        expect(new Set(on.requests.map(({ system }) => system)).size).toBe(1)
      },
    )

    it('R73 the next turn knows what is open, and an opened tool stays callable', async () => {
      const on = stage([says(opens('refunds')), done, says(call('refund', { order: 'B-2' }))])
      const agent = await on.create()
      await agent.send('One.')
      await agent.send('Two.')
      expect(on.done).toEqual(['refund B-2'])
      expect(on.requests[2]?.tools).toEqual(on.requests[1]?.tools)
      expect(on.requests[2]?.system).toBe(on.requests[0]?.system)
    })

    it.skipIf(isSkipped('system text'))(
      'R73 a section that is opened in the system text brings its tools as well',
      async () => {
        const on = stage(
          [says(call('open_sections', { section_keys: ['refunds'], reason: 'Money.' })), says(call('refund'))],
          {
            isRestarting: true,
          },
        )
        await (await on.create()).send('Go.')
        expect(on.requests[0]?.system).not.toContain('The whole text of refunds.')
        expect(on.requests[1]?.system).toContain('The whole text of refunds.')
        expect(getResult(on, 1)).toBe(
          'Opened: refunds. Its text is now in the system prompt, and its tools are in your tool list. Callable now: refund.',
        )
        expect(on.done).toEqual(['refund'])
      },
    )

    it('R73 a section that a tool opens is read in the result of that tool', async () => {
      const on = stage([says(call('unlock')), says(call('take'))])
      await (await on.create()).send('Go.')
      expect(getResult(on, 1)).toBe(
        'Unlocked.\n\nYour instructions have changed. These sections now read:\n\n# vault\n\nThe whole text of vault.\n\nCallable now: take.',
      )
      expect(on.done).toEqual(['take'])
      expect(on.requests[2]?.system).toBe(on.requests[0]?.system)
    })

    it('R73 a catalog is found, searched and called', async () => {
      const on = stage([
        says(opens('more')),
        says(call('search_tools', { query: 'track a parcel' })),
        says(call('use_tool', { name: 'track_parcel', arguments: { order: 'C-3' } })),
      ])
      await (await on.create()).send('Where is it?')
      expect(getResult(on, 2)).toContain('track_parcel')
      expect(getResult(on, 3)).toBe('track_parcel is done.')
      expect(on.done).toEqual(['track_parcel C-3'])
    })

    it('R73 arguments are checked against the schema, and the model reads what is wrong', async () => {
      const on = stage([says(call('look', { order: 17 }))])
      await (await on.create()).send('Go.')
      expect(getResult(on, 1)).toContain("Wrong arguments for tool 'look': order must be a string")
      expect(on.done).toEqual([])
    })

    it.skipIf(isSkipped('images'))('R73 an image in a result reaches the model', async () => {
      const on = stage([says(call('show'))])
      await (await on.create()).send('Go.')
      expect(on.requests.map(({ hasImage = false }) => hasImage)).toEqual([false, true])
      expect(getResult(on, 1)).toMatch(/^Here it is\./)
    })

    it.skipIf(isSkipped('own tools'))("R73 the host's own tools are called beside the prompt's", async () => {
      const on = stage([says(call('look_up', { what: 'A-17' }), opens('refunds')), says(call('refund'))])
      await (await on.create()).send('Go.')
      expect(on.requests[0]?.tools).toContain('look_up')
      expect(on.requests[1]?.results).toEqual(expect.arrayContaining(['Found A-17.', TEXT_OF_REFUNDS]))
      expect(on.done).toEqual(['refund'])
    })

    it.skipIf(isSkipped('approval'))(
      'R73 an approval is answered by a new agent in another process (mastra 15776)',
      async () => {
        const on = stage([says(opens('payments')), says(call('pay', { order: 'D-4' }))])
        const agent = await on.create()
        expect(await agent.send('Pay.')).toMatchObject({ isWaiting: true })
        expect(on.done).toEqual([])
        const later = await on.create(await agent.save?.())
        expect(await later.answer?.(true)).toEqual({ text: 'Done.', isWaiting: false })
        expect(on.done).toEqual(['pay D-4'])
        expect(on.requests.at(-1)?.tools).toContain('pay')
        expect(getResult(on, 2)).toBe('pay is done.')
      },
    )

    it.skipIf(isSkipped('approval'))(
      'R73 a call that a person refuses does not run, and the model hears of it',
      async () => {
        const on = stage([says(opens('payments')), says(call('pay'))])
        const agent = await on.create()
        await agent.send('Pay.')
        expect(await agent.answer?.(false)).toEqual({ text: 'Done.', isWaiting: false })
        expect(on.done).toEqual([])
        expect(getResult(on, 2)).toMatch(/not (?:run|approved)|denied/i)
      },
    )

    it.skipIf(isSkipped('clearing'))(
      'R73 text that the host has cleared comes back, and its tools stay (claude-code 13919)',
      async () => {
        const on = stage([says(opens('refunds'), opens('shipping')), done, says(call('refund'))])
        const agent = await on.create()
        await agent.send('One.')
        await agent.clearResults?.()
        await agent.send('Two.')
        const [before, after] = [on.requests[0], on.requests[2]]
        expect(after?.results.join()).not.toContain('The whole text of refunds.')
        expect(before?.system).not.toContain('The whole text of refunds.')
        for (const key of ['refunds', 'shipping']) expect(after?.system).toContain(`The whole text of ${key}.`)
        expect(after?.tools).toEqual(on.requests[1]?.tools)
        expect(on.done).toEqual(['refund'])
      },
    )

    it.skipIf(isSkipped('summarizing'))(
      'R73 a summary of the conversation takes no section with it, and no tool (claude-code 73280)',
      async () => {
        const on = stage([says(opens('refunds')), done, says(call('refund'))])
        const agent = await on.create()
        await agent.send('One.')
        await agent.summarize?.('The user said one.')
        await agent.send('Two.')
        expect(on.requests[2]?.results).toEqual([])
        expect(on.requests[2]?.system).toContain('The whole text of refunds.')
        expect(on.requests[2]?.tools).toEqual(on.requests[1]?.tools)
        expect(on.done).toEqual(['refund'])
      },
    )

    it.skipIf(isSkipped('restart'))(
      'R73 an agent in another process goes on with the same bytes (mastra 13289)',
      async () => {
        const on = stage([says(opens('refunds')), done, says(call('refund'))])
        const agent = await on.create()
        await agent.send('One.')
        await (await on.create(await agent.save?.())).send('Two.')
        expect(on.requests[2]?.tools).toEqual(on.requests[1]?.tools)
        expect(on.requests[2]?.system).toBe(on.requests[1]?.system)
        expect(on.done).toEqual(['refund'])
      },
    )

    it.skipIf(isSkipped('branch'))('R73 what one branch opens, another does not see', async () => {
      const on = stage([done, says(opens('refunds')), done, says(opens('shipping'))])
      const agent = await on.create()
      await agent.send('Begin.')
      const saved = await agent.save?.()
      await (await on.create(saved)).send('Left.')
      await (await on.create(saved)).send('Right.')
      expect(getLists(on).slice(2)).toEqual([[...FIRST_TOOLS, 'refund'], FIRST_TOOLS, [...FIRST_TOOLS, 'ship']])
    })

    it.skipIf(isSkipped('streaming'))('R73 a streamed run opens and calls like any other', async () => {
      const on = stage([says(opens('refunds')), says(call('refund'))])
      const turn = await (await on.create()).send('Go.', { isStreamed: true })
      expect(turn.text).toBe('Done.')
      expect(on.done).toEqual(['refund'])
      expect(on.requests[2]?.results).toEqual([TEXT_OF_REFUNDS, 'refund is done.'])
    })

    it('R74 a skill brings its tools and its files, and the next turn still has them (agentskills 53, adk 4899)', async () => {
      const on = stage(
        [says(opens('money-back')), says(opens('fees.md')), done, says(call('refund', { order: 'A-17' }))],
        { hasSkills: true },
      )
      const agent = await on.create()
      await agent.send('Money back for A-17.')
      await agent.send('Go on.')
      expect(on.requests[0]?.system).toContain('- money-back: Use it when somebody wants money back.')
      expect(getResult(on, 1)).toBe(
        '# money-back\n\nRefund at once. The fees are in fees.md.\n\n---\nFiles of this skill, which are read by their paths, as sections are by their keys: money-back/fees.md (1 KB).\nTools of this skill that are not available here: fly.\n\nCallable now: refund.',
      )
      expect(getResult(on, 2)).toBe('It costs one.')
      expect(getLists(on)[0]).toEqual(['read_section'])
      for (const list of getLists(on).slice(1)) expect(list).toEqual(['read_section', 'refund'])
      expect(on.done).toEqual(['refund A-17'])
      expect(new Set(on.requests.map(({ system }) => system)).size).toBe(1)
    })

    describeAhead({ stage, call, getLists, isSkipped })
    describeScripts({ stage, call, getResult, isSkipped })

    it('R73 what happens reaches a recorder and the inspector', async () => {
      const on = stage([says(opens('refunds')), says(call('refund'))])
      await (await on.create()).send('Money back.')
      const types = on.events.map(({ type }) => type).filter((type) => !type.endsWith('/delta') && type !== 'warning')
      // Some hosts report a reply only when its calls have run.
      expect(types.filter((type) => type === 'reply/received')).toHaveLength(3)
      expect(types.filter((type) => type !== 'reply/received')).toEqual([
        'run/started',
        'prompt/rendered',
        'request/sent',
        'tool/called',
        'tool/invoked',
        'tools/injected',
        'request/sent',
        'tool/called',
        'tool/invoked',
        'request/sent',
        'run/finished',
      ])
      expect(on.events.find(({ type }) => type === 'run/started')).toMatchObject({ input: 'Money back.' })
      expect(on.events.find(({ type }) => type === 'tool/invoked')).toMatchObject({
        name: 'read_section',
        disclosure: { keys: ['refunds'], answer: 'in-place' },
      })
    })
  })
}
