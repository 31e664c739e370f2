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
  runAgent,
} from '../entries/index.ts'
import { visibility } from '../entries/session.ts'
import { calls, says, scriptedAdapter, type ScriptStep } from '../testing/scripted-adapter.ts'

const report = defineTool({
  name: 'get_report',
  description: 'Returns a report.',
  params: { type: 'object' },
  execute: ({ n }) => ok(`report ${String(n)}: ${'many orders, none of them late. '.repeat(120)}`),
})
const use = defineTool({
  name: 'use_guide',
  description: 'A tool.',
  params: { type: 'object' },
  execute: () => ok('Used.'),
})
const KIND = 'Be kind to people.'
const GUIDE = `${KIND} `.repeat(300)

const createPrompt = (tools: readonly (typeof use)[]) =>
  definePrompt({
    ns: 'test',
    key: 'shop',
    sections: [
      defineSection({ key: 'task', title: 'Task', template: 'Read the reports.', tools: [report] }),
      defineSection({
        key: 'guide',
        title: 'Guide',
        summary: 'How to write.',
        visibility: 'summary',
        template: GUIDE,
        tools,
      }),
    ],
  }).bind({})

const hasGuide = (request: unknown): boolean => JSON.stringify(request).includes(KIND)
const read = calls('read_section', { section_key: 'guide' })
const open = calls('open_sections', { section_keys: ['guide'], reason: 'It helps.' })
const ways = [
  { name: 'readSection', disclosure: readSection(), tools: [use], opens: read },
  { name: 'readSection, no tools', disclosure: readSection(), tools: [], opens: read },
  { name: 'openSections', disclosure: openSections(), tools: [use], opens: open },
  { name: 'openSections, no tools', disclosure: openSections(), tools: [], opens: open },
  { name: 'openOrRead', disclosure: openOrRead(), tools: [use], opens: open },
  { name: 'openOrRead, no tools', disclosure: openOrRead(), tools: [], opens: read },
  { name: 'contextFiles', disclosure: contextFiles({ folder: 'context' }), tools: [use], opens: open },
].flatMap((way) => [true, false].map((addsTools) => ({ ...way, addsTools })))

describe('R70 a section that the application closes', () => {
  it.each(ways)('leaves with the next rewrite: $name, tools can be added: $addsTools', async (way) => {
    const { disclosure, tools, opens, addsTools } = way
    const session = createSession()
    const bound = createPrompt(tools)
    const run = async (script: readonly ScriptStep[], ttlMs: number) => {
      const adapter = { ...scriptedAdapter(script), supportsDynamicTools: addsTools }
      const refold = { at: 3_000, frees: 500, keepTurns: 1, cache: { read: 0.1, write: 1.25, ttlMs } }
      const { state } = await runAgent(bound, { adapter, session, disclosure, refold, input: 'Go.', maxTurns: 50 })
      return { state, last: adapter.requests.at(-1) }
    }
    const opened = await run([opens, calls('get_report', { n: 0 }), says('Done.')], 300_000)
    expect(hasGuide(opened.last)).toBe(true)
    session.dispatch(visibility.events.cleared({ path: 'guide' }))
    await run([...[1, 2, 3].map((n) => calls('get_report', { n })), says('Done.')], 300_000)
    const { last, state } = await run([says('Done.')], 0)
    expect(hasGuide(last)).toBe(false)
    expect(last?.tools).not.toContain('use_guide')
    expect(last?.tools).toContain('read_result')
    expect(state.folded).not.toEqual([])
  })

  it.each(ways)('leaves with a new render, whatever its size: $name, tools can be added: $addsTools', async (way) => {
    const { disclosure, tools, opens, addsTools } = way
    const session = createSession()
    const bound = createPrompt(tools)
    const run = async (script: readonly ScriptStep[], options: { readonly rerender?: boolean } = {}) => {
      const adapter = { ...scriptedAdapter(script), supportsDynamicTools: addsTools }
      await runAgent(bound, { adapter, session, disclosure, input: 'Go.', ...options })
      return adapter.requests.at(-1)
    }
    expect(hasGuide(await run([opens, says('Done.')]))).toBe(true)
    session.dispatch(visibility.events.cleared({ path: 'guide' }))
    const last = await run([says('Done.')], { rerender: true })
    expect(hasGuide(last)).toBe(false)
    expect(last?.tools).not.toContain('use_guide')
    expect(last?.tools).not.toContain('read_result')
  })
})
