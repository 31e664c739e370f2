import { describe, expect, it } from 'vitest'
import { fakeSdk, init, type Script } from '../../../adapters/claude-agent/fake-sdk.fixtures.ts'
import { queryClaude } from '../../../entries/claude-agent.ts'
import { createSession, definePrompt, defineSection, defineTool, ok, openSections } from '../../../entries/index.ts'

const done: string[] = []
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  needsApproval: true,
  execute: () => (done.push('pay'), ok('Paid.')),
})
const prompt = definePrompt({
  ns: 'test',
  key: 'query',
  sections: [
    defineSection({ key: 'role', title: 'Role', template: 'You help.' }),
    defineSection({
      key: 'money',
      title: 'Money',
      template: 'All about money.',
      summary: 'About money.',
      visibility: 'summary',
      tools: [pay],
    }),
  ],
})
const bound = prompt.bind()

type Permission = (
  name: string,
  input: object,
  context: { toolUseID: string },
) => Promise<{ readonly behavior: string }>
type Hooks = Readonly<
  Record<string, readonly { readonly matcher?: string; readonly hooks: readonly (() => unknown)[] }[]>
>

/** Runs a script as the executable would, and returns what the calls were answered. */
async function play(script: Script, options: Readonly<Record<string, unknown>> = {}, session = createSession()) {
  const sdk = fakeSdk([script])
  for await (const message of queryClaude(bound, { prompt: 'Go.', session, sdk, options })) void message
  const host = sdk.hosts[0]
  if (!host) throw new Error('Nothing was asked.')
  return { sdk, session, host, hooks: host.options['hooks'] as Hooks }
}

const getText = (answer: unknown): string => (answer as { content: readonly { text: string }[] }).content[0]?.text ?? ''

describe('queryClaude', () => {
  it('R73 adds its text to the system prompt, whatever its form', async () => {
    const idle: Script = async function* () {}
    const text = bound.render().text
    const whole = await play(idle, { systemPrompt: 'Be kind.' })
    expect(whole.host.options['systemPrompt']).toBe(`Be kind.\n\n${text}`)
    const preset = await play(idle, { systemPrompt: { type: 'preset', preset: 'claude_code', append: 'Be kind.' } })
    expect(preset.host.options['systemPrompt']).toMatchObject({ preset: 'claude_code', append: `Be kind.\n\n${text}` })
  })

  it.each([
    ['allow', 'Paid.', ['pay']],
    ['deny', "Tool 'pay' was not run: a person has to approve it first, and this call cannot wait for that.", []],
  ])('R73 asks about a call that needs approval, once: %s', async (behavior, text, expected) => {
    done.length = 0
    const answers: string[] = []
    const asked: string[] = []
    const canUseTool = async (name: string, updatedInput: object) => (asked.push(name), { behavior, updatedInput })
    const { session } = await play(
      async function* (host) {
        yield init()
        const ask = host.options['canUseTool'] as Permission
        const read = { section_key: 'money' }
        expect(await ask('read_section', read, { toolUseID: 'a' })).toMatchObject({ behavior: 'allow' })
        answers.push(getText(await host.call('read_section', read, 'a')))
        await ask('mcp__foldout__pay', {}, { toolUseID: 'b' })
        answers.push(getText(await host.call('pay', {}, 'b')))
        // The approval was for one call.
        answers.push(getText(await host.call('pay', {}, 'b')))
      },
      { canUseTool },
    )
    expect(asked).toEqual(['pay'])
    expect(answers.slice(0, 2)).toEqual(['# Money\n\nAll about money.\n\nCallable now: pay.', text])
    expect(answers[2]).toContain('was not run')
    expect(done).toEqual(expected)
    expect(Object.keys(session.snapshot().slices)).toContain('visibility')
  })

  it('R73 says again what is open once the executable has compacted the conversation (claude-code 13919)', async () => {
    const { hooks } = await play(async function* (host) {
      yield init()
      await host.call('read_section', { section_key: 'money' }, 'a')
    })
    const [reminder] = hooks['SessionStart'] ?? []
    expect(reminder?.matcher).toBe('compact')
    expect(await reminder?.hooks[0]?.()).toMatchObject({
      hookSpecificOutput: { additionalContext: expect.stringContaining('All about money.') as string },
    })
  })

  it('R73 reads in the result what a strategy would show in the system text, which is fixed', async () => {
    const sdk = fakeSdk([
      async function* (host) {
        yield init()
        const open = { section_keys: ['money'], reason: '' }
        expect(getText(await host.call('open_sections', open, 'a'))).toBe(
          '# Money\n\nAll about money.\n\nCallable now: pay.',
        )
      },
    ])
    const settings = { prompt: 'Go.', session: createSession(), sdk, disclosure: openSections() }
    for await (const message of queryClaude(bound, settings)) void message
    expect(sdk.done).toEqual(['list_changed', 'listed open_sections pay'])
  })
})
