import { generateText, jsonSchema, simulateReadableStream, stepCountIs, streamText, tool } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  contextFiles,
  createSession,
  definePrompt,
  defineSection,
  defineSlice,
  defineTool,
  fail,
  ok,
  openOrRead,
  openSections,
  readSection,
  type DisclosureStrategy,
} from '../../../entries/index.ts'
import { createMemoryFilesystem } from '../../../entries/files.ts'
import { visibility } from '../../../entries/session.ts'
import { createConversation } from '../../../testing/conversation.ts'
import { getBound, getPaths, shapes } from '../../../testing/sections.fixtures.ts'
import { createDisclosure } from './disclosure.ts'
import {
  answering,
  call,
  finish,
  says,
  toolNames,
  usage,
  type CallOptions,
  type Generated,
} from '../../../adapters/ai-sdk/model.fixtures.ts'
import { takeTurns } from '../../../../../../test/turns.ts'

type Content = Generated['content'][number]
const calling = (name: string, input: unknown, id?: string): Content => call(name, input, id) as Content
const done: Content[] = [{ type: 'text', text: 'Done.' }]
const stopWhen = stepCountIs(50)

const named = (name: string) => defineTool({ name, description: `Does ${name}.`, execute: () => ok(`${name} done.`) })
const bound = definePrompt({
  ns: 'test',
  key: 'bridge',
  sections: [
    defineSection({ key: 'task', title: 'Task', template: 'Do the task.', tools: [named('start')] }),
    defineSection({
      key: 'docs',
      title: 'Docs',
      template: 'All of the docs.',
      summary: 'There are docs.',
      visibility: 'summary',
      tools: [named('search')],
      children: [
        defineSection({
          key: 'deep',
          title: 'Deep',
          template: 'Deep docs.',
          summary: 'There is more.',
          visibility: 'summary',
          tools: [named('dig')],
        }),
      ],
    }),
    defineSection({
      key: 'admin',
      title: 'Admin',
      template: 'How to administrate.',
      summary: 'Administration.',
      visibility: 'summary',
      tools: [named('delete')],
    }),
  ],
}).bind()

function getSystem({ prompt }: CallOptions): string {
  const [first] = prompt
  return first?.role === 'system' ? first.content : ''
}
/** Returns the results in the last message of a request. */
function getResults(options: CallOptions | undefined): unknown[] {
  const last = options?.prompt.at(-1)
  return last?.role === 'tool' ? last.content.map((part) => 'output' in part && part.output) : []
}

describe('createDisclosure', () => {
  it('R35 makes a folded tool active only once its section is read, at the end of the list, with an untouched prefix', async () => {
    const session = createSession()
    const model = answering(
      (number) =>
        [
          [calling('read_section', { section_key: 'admin' })],
          [calling('delete', {})],
          [calling('read_section', { section_key: 'docs' })],
          [calling('search', {})],
        ][number] ?? done,
    )
    const { text } = await generateText({
      model,
      ...(await createDisclosure({ prompt: bound, session })),
      prompt: 'Go.',
      stopWhen,
    })
    expect(text).toBe('Done.')
    const requests = model.doGenerateCalls
    expect(requests.map(toolNames)).toEqual([
      ['start', 'read_section'],
      ['start', 'read_section', 'delete'],
      ['start', 'read_section', 'delete'],
      ['start', 'read_section', 'delete', 'search'],
      ['start', 'read_section', 'delete', 'search'],
    ])
    expect(requests.map(getResults).slice(1)).toEqual([
      [{ type: 'text', value: '# Admin\n\nHow to administrate.\n\nCallable now: delete.' }],
      [{ type: 'text', value: 'delete done.' }],
      [
        {
          type: 'text',
          value:
            '# Docs\n\nAll of the docs.\n\n## Deep\n\nThere is more.\n\n---\n[This section is summarized. To view full content, call `read_section` with key "docs.deep".]\n\nCallable now: search.',
        },
      ],
      [{ type: 'text', value: 'search done.' }],
    ])
    expect(new Set(requests.map(getSystem)).size).toBe(1)
    expect(session.get(visibility)).toEqual({ admin: 'full', docs: 'full' })
  })

  it('R34 renders the system text again after an opening that halts, and keeps it for later steps', async () => {
    const session = createSession()
    const disclosure = openSections()
    const model = answering(
      (number) =>
        [[calling('open_sections', { section_keys: ['docs.deep'], reason: 'To dig.' })], [calling('dig', {})]][
          number
        ] ?? done,
    )
    await generateText({
      model,
      ...(await createDisclosure({ prompt: bound, session, disclosure })),
      prompt: 'Go.',
      stopWhen,
    })
    const [first, second, third] = model.doGenerateCalls
    expect([first, second, third].map(toolNames)).toEqual([
      ['start', 'open_sections'],
      ['start', 'open_sections', 'search', 'dig'],
      ['start', 'open_sections', 'search', 'dig'],
    ])
    expect(getSystem(first!)).toBe(bound.render({ disclosure }).text)
    expect(getSystem(second!)).toContain('Deep docs.')
    expect(getSystem(second!)).toBe(bound.render({ session, disclosure }).text)
    expect(getSystem(third!)).toBe(getSystem(second!))
    expect(getResults(second)).toEqual([
      {
        type: 'text',
        value:
          'Opened: docs.deep. Its text is now in the system prompt, and its tools are in your tool list. Callable now: search, dig.',
      },
    ])
    expect(getResults(third)).toEqual([{ type: 'text', value: 'dig done.' }])
  })

  it('R33 loses no opening and no call in a turn with several', async () => {
    for (const disclosure of [openSections(), readSection()]) {
      const session = createSession()
      const open = (key: string, id: string): Content =>
        disclosure === readSection()
          ? calling('read_section', { section_key: key }, id)
          : calling('open_sections', { section_keys: [key], reason: '' }, id)
      const model = answering((number) =>
        number === 0 ? [open('docs', 'a'), calling('start', {}, 'b'), open('admin', 'c')] : done,
      )
      await generateText({
        model,
        ...(await createDisclosure({ prompt: bound, session, disclosure })),
        prompt: 'Go.',
        stopWhen,
      })
      expect(session.get(visibility)).toEqual({ docs: 'full', admin: 'full' })
      expect(toolNames(model.doGenerateCalls[1]).slice(2).sort()).toEqual(['delete', 'search'])
      expect(getResults(model.doGenerateCalls[1])[1]).toEqual({ type: 'text', value: 'start done.' })
    }
  })

  it.each([
    ['readSection', readSection(), 'Call `read_section` with section_key "docs.deep" first.'],
    ['openSections', openSections(), 'Call `open_sections` with section_keys ["docs.deep"] first.'],
  ])(
    'R36 answers a call of a folded tool with instructions to open its section: %s',
    async (_name, disclosure, how) => {
      const session = createSession()
      const model = answering((number) => (number === 0 ? [calling('dig', {}), calling('start', {})] : done))
      const { text } = await generateText({
        model,
        ...(await createDisclosure({ prompt: bound, session, disclosure })),
        prompt: 'Go.',
        stopWhen,
      })
      expect(text).toBe('Done.')
      expect(getResults(model.doGenerateCalls[1])).toEqual([
        {
          type: 'error-text',
          value: `Tool 'dig' belongs to the section 'docs.deep', which is not open yet. ${how}`,
        },
        { type: 'text', value: 'start done.' },
      ])
      expect(session.get(visibility)).toEqual({})
      expect(toolNames(model.doGenerateCalls[1])).not.toContain('dig')
    },
  )

  it('R36 keeps an added tool callable, even in a later call with the same session', async () => {
    const session = createSession()
    const replies = [[calling('read_section', { section_key: 'admin' })], done]
    const model = answering((number) => replies[number] ?? [calling('delete', {})])
    for (const maxSteps of [2, 1]) {
      await generateText({
        model,
        ...(await createDisclosure({ prompt: bound, session })),
        prompt: 'Go.',
        stopWhen: stepCountIs(maxSteps),
      })
    }
    expect(toolNames(model.doGenerateCalls[2])).toContain('delete')
    expect(getSystem(model.doGenerateCalls[2]!)).toContain('How to administrate.')
  })

  it('does not change the session before the model opens a section', async () => {
    const session = createSession()
    const events: unknown[] = []
    session.subscribe((event) => events.push(event))
    const { tools, activeTools, system } = await createDisclosure({ prompt: bound, session })
    expect(Object.keys(tools).sort()).toEqual(['delete', 'dig', 'read_section', 'search', 'start'])
    expect(activeTools).toEqual(['start', 'read_section'])
    expect(system).toBe(bound.render().text)
    expect(events).toEqual([])
  })

  it('finds the tools of a section that the session keeps folded, and leaves it folded', async () => {
    const session = createSession({ slices: [visibility.seed({ docs: 'summary' })] })
    const { tools } = await createDisclosure({ prompt: bound, session, visibility: { docs: 'full' } })
    expect(Object.keys(tools)).toContain('dig')
    expect(session.get(visibility)).toEqual({ docs: 'summary' })
  })

  it('offers the tools of a section that was enabled in the meantime', async () => {
    const gate = defineSlice({ name: 'gate', initial: false, reducers: { opened: () => true } })
    const unlock = defineTool({
      name: 'unlock',
      description: 'Unlocks the vault.',
      execute(_params, { session }) {
        session.dispatch(gate.events.opened())
        return ok('Unlocked.')
      },
    })
    const prompt = definePrompt({
      ns: 'test',
      key: 'vault',
      sections: [
        defineSection({ key: 'door', title: 'Door', template: 'A door.', tools: [unlock] }),
        defineSection({ key: 'map', title: 'Map', template: 'The map.', summary: 'A map.', visibility: 'summary' }),
        defineSection({
          key: 'vault',
          title: 'Vault',
          template: 'The vault.',
          enabled: (_params: unknown, { session }) => session.get(gate),
          tools: [named('take')],
        }),
      ],
    })
    const model = answering(
      (number) =>
        [
          [calling('unlock', {})],
          [calling('open_sections', { section_keys: ['map'], reason: '' })],
          [calling('take', {})],
        ][number] ?? done,
    )
    const session = createSession({ slices: [gate] })
    const settings = await createDisclosure({ prompt: prompt.bind(), session, disclosure: openSections() })
    await generateText({ model, ...settings, prompt: 'Go.', stopWhen })
    expect(toolNames(model.doGenerateCalls[2])).toEqual(['unlock', 'open_sections', 'take'])
    expect(getResults(model.doGenerateCalls[3])).toEqual([{ type: 'text', value: 'take done.' }])
  })

  it('works with streamText', async () => {
    const session = createSession()
    const replies = [
      [call('read_section', { section_key: 'admin' }), finish('tool-calls')],
      [call('delete', {}), finish('tool-calls')],
      [...says('Done.'), finish()],
    ]
    const model = new MockLanguageModelV3({
      doStream: async () => ({ stream: simulateReadableStream({ chunks: replies.shift()! }) }),
    })
    const result = streamText({
      model,
      ...(await createDisclosure({ prompt: bound, session })),
      prompt: 'Go.',
      stopWhen,
    })
    expect(await result.text).toBe('Done.')
    expect((await result.totalUsage).inputTokens).toBe(3 * usage.inputTokens.total)
    expect(model.doStreamCalls.map(toolNames)).toEqual([
      ['start', 'read_section'],
      ['start', 'read_section', 'delete'],
      ['start', 'read_section', 'delete'],
    ])
  })

  it.each([
    [readSection(), 'read_section', { section_key: 'admin' }],
    [openSections(), 'open_sections', { section_keys: ['admin'], reason: '' }],
  ])('does not send the text of a section to the browser: $name', async (disclosure, name, input) => {
    const stream = async (showTextInOutput: boolean) => {
      const replies = [
        [call(name, input), finish('tool-calls')],
        [...says('Done.'), finish()],
      ]
      const model = new MockLanguageModelV3({
        doStream: async () => ({ stream: simulateReadableStream({ chunks: replies.shift()! }) }),
      })
      const settings = await createDisclosure({ prompt: bound, session: createSession(), disclosure, showTextInOutput })
      const result = streamText({ model, ...settings, prompt: 'Go.', stopWhen })
      const chunks: unknown[] = []
      for await (const chunk of result.toUIMessageStream()) chunks.push(chunk)
      return { sent: JSON.stringify(chunks), model, settings, messages: (await result.response).messages }
    }
    const { sent, model, settings, messages } = await stream(false)
    expect(sent).toContain('tool-output-available')
    expect(sent).toContain('Opened: admin.')
    expect(sent).not.toContain('How to administrate.')
    // The model still reads the text: in the result, or in the system text.
    expect(JSON.stringify(model.doStreamCalls[1]!.prompt)).toContain('How to administrate.')
    expect(messages.length).toBeGreaterThan(0)
    // In a later request, the notice is enough, because the section is in the system text by then.
    const later = settings.tools[name]!.toModelOutput!({ toolCallId: 'unknown', input, output: 'Opened: admin.' })
    expect(await later).toEqual({ type: 'text', value: 'Opened: admin.' })
    expect((await stream(true)).sent).toContain(
      disclosure === readSection() ? 'How to administrate.' : 'Opened: admin.',
    )
  })

  it('R36 offers tools that became visible without a disclosure call', async () => {
    const reveal = defineTool({
      name: 'reveal',
      description: 'Opens the vault.',
      execute: (_, { session }) => (
        session.dispatch(visibility.events.set({ path: 'vault', visibility: 'full' })),
        ok('Revealed.')
      ),
    })
    const prompt = definePrompt({
      ns: 'test',
      key: 'reveal',
      sections: [
        defineSection({ key: 'door', title: 'Door', template: 'A door.', tools: [reveal] }),
        defineSection({
          key: 'vault',
          title: 'Vault',
          template: 'The vault.',
          summary: 'A vault.',
          visibility: 'summary',
          tools: [named('take')],
        }),
      ],
    })
    const model = answering((number) => [[calling('reveal', {})], [calling('take', {})]][number] ?? done)
    const settings = await createDisclosure({ prompt: prompt.bind(), session: createSession() })
    await generateText({ model, ...settings, prompt: 'Go.', stopWhen })
    expect(toolNames(model.doGenerateCalls[1])).toContain('take')
    expect(getResults(model.doGenerateCalls[2])).toEqual([{ type: 'text', value: 'take done.' }])
  })

  it('R37 gives the model the messages of failures and of wrong arguments', async () => {
    const failing = defineTool({ name: 'failing', description: 'Fails.', execute: () => fail('Out of order.') })
    const strict = defineTool({
      name: 'strict',
      description: 'Wants a number.',
      params: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      execute: () => ok('fine'),
    })
    const prompt = definePrompt({
      ns: 'test',
      key: 'failing',
      sections: [defineSection({ key: 'a', title: 'A', template: 'A.', tools: [failing, strict] })],
    })
    const model = answering((number) =>
      number === 0 ? [calling('failing', {}), calling('strict', { n: 'x' }), calling('strict', '{"n":', 'cut')] : done,
    )
    await generateText({
      model,
      ...(await createDisclosure({ prompt: prompt.bind(), session: createSession() })),
      prompt: 'Go.',
      stopWhen,
    })
    const [first, second, third] = getResults(model.doGenerateCalls[1]) as { type: string; value: string }[]
    expect(first).toEqual({ type: 'error-text', value: 'Out of order.' })
    expect(second!.value).toMatch(/^Wrong arguments for tool 'strict': n must be a number/)
    expect(third).toMatchObject({ type: 'error-text', value: expect.stringContaining('Invalid input') as string })
  })

  it('R32 writes context files if there is a filesystem', async () => {
    const prompt = definePrompt({
      ns: 'test',
      key: 'files',
      sections: [defineSection({ key: 'a', title: 'A', template: 'Body.', summary: 'Short.', visibility: 'summary' })],
    })
    const filesystem = createMemoryFilesystem()
    const model = answering((number) =>
      number === 0 ? [calling('open_sections', { section_keys: ['a'], reason: '' })] : done,
    )
    await generateText({
      model,
      ...(await createDisclosure({
        prompt: prompt.bind(),
        session: createSession(),
        disclosure: contextFiles({ readTool: false }),
        filesystem,
      })),
      prompt: 'Go.',
      stopWhen,
    })
    expect(await filesystem.read('context/a.md')).toContain('Body.')
    expect(new Set(model.doGenerateCalls.map(getSystem)).size).toBe(1)
  })

  it('always offers your own tools, and rejects two with the same name', async () => {
    const mine = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: () => 'mine done' })
    const model = answering((number) => (number === 0 ? [calling('read_section', { section_key: 'admin' })] : done))
    await generateText({
      model,
      ...(await createDisclosure({ prompt: bound, session: createSession(), tools: { mine } })),
      prompt: 'Go.',
      stopWhen,
    })
    expect(model.doGenerateCalls.map(toolNames)).toEqual([
      ['mine', 'start', 'read_section'],
      ['mine', 'start', 'read_section', 'delete'],
    ])
    await expect(
      createDisclosure({ prompt: bound, session: createSession(), tools: { dig: mine } }),
    ).rejects.toMatchObject({
      code: 'tool-name-taken',
    })
  })

  it('runs an exclusive tool by itself', async () => {
    const running = new Set<string>()
    const seen: string[][] = []
    const slow = (name: string, exclusive: boolean) =>
      defineTool({
        name,
        description: name,
        exclusive,
        async execute() {
          running.add(name)
          seen.push([...running])
          await takeTurns()
          running.delete(name)
          return ok(name)
        },
      })
    const tools = [slow('a', false), slow('b', false), slow('alone', true), slow('c', false)]
    const prompt = definePrompt({
      ns: 'test',
      key: 'exclusive',
      sections: [defineSection({ key: 'a', title: 'A', template: 'A.', tools })],
    })
    const model = answering((number) => (number === 0 ? tools.map(({ name }) => calling(name, {})) : done))
    await generateText({
      model,
      ...(await createDisclosure({ prompt: prompt.bind(), session: createSession() })),
      prompt: 'Go.',
      stopWhen,
    })
    expect(seen).toEqual([['a'], ['a', 'b'], ['alone'], ['c']])
  })
})

describe('equivalence', () => {
  const strategies: readonly DisclosureStrategy[] = [readSection(), openSections(), openOrRead()]

  it("R31 shows the same texts and makes the same tools callable as Foldout's own loop", async () => {
    await fc.assert(
      fc.asyncProperty(
        shapes.chain((sections) =>
          fc.tuple(
            fc.constant(sections),
            fc.array(fc.constantFrom(...getPaths(sections)), { minLength: 1, maxLength: 5 }),
            fc.constantFrom(...strategies),
          ),
        ),
        async ([sections, keys, disclosure]) => {
          const askFor = (key: string, tools: readonly string[]): { name: string; input: unknown } =>
            tools.includes('open_sections')
              ? { name: 'open_sections', input: { section_keys: [key], reason: '' } }
              : { name: 'read_section', input: { section_key: key } }

          const conversation = createConversation({
            bound: getBound(sections),
            session: createSession(),
            disclosure,
            dynamicTools: true,
          })
          for (const key of keys) {
            const { name, input } = askFor(key, [...conversation.tools.keys()])
            await conversation.call(name, input)
          }

          const model = answering((number, options) => {
            const key = keys[number]
            if (key === undefined) return done
            const { name, input } = askFor(key, toolNames(options))
            return [calling(name, input, `call_${number}`)]
          })
          const session = createSession()
          await generateText({
            model,
            ...(await createDisclosure({ prompt: getBound(sections), session, disclosure })),
            prompt: 'Go.',
            stopWhen,
          })
          const last = model.doGenerateCalls.at(-1)
          const bodies = (text: string): string[] => [...new Set(text.match(/body of [a-z.]+\./g))].sort()
          expect(bodies(JSON.stringify(model.doGenerateCalls.map(({ prompt }) => prompt)))).toEqual(
            bodies(conversation.texts.join('\n')),
          )
          expect(toolNames(last).sort()).toEqual([...conversation.tools.keys()].sort())
        },
      ),
      { numRuns: 60 },
    )
  })
})
