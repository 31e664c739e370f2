// A strategy written with public entries only, with its own tools, arguments and words.
import { createSession, defineTool, definePrompt, defineSection, ok, runAgent, type AgentEvent } from 'foldout'
import {
  answerByRestart,
  answerInPlace,
  planOpening,
  resolveKeys,
  type DisclosureStrategy,
  type DisclosureView,
} from 'foldout/disclosure'
import { calls, says, scriptedAdapter } from 'foldout/testing'
import { disclosureSuite } from 'foldout/testing/suites'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'

function createUnfold(offered: DisclosureView, restarts: boolean) {
  return defineTool({
    name: 'unfold',
    description: 'Unfolds a chapter.',
    params: z.object({ chapter: z.string().describe('The chapter to unfold, as its last line names it') }),
    execute({ chapter }, { session }) {
      const view = offered.at(session)
      const resolved = resolveKeys(view, [chapter], { takesFull: false })
      if ('fault' in resolved) return resolved.fault
      const plan = planOpening(view, resolved.keys, '')
      return restarts ? answerByRestart(view, plan) : answerInPlace(view, plan)
    },
  })
}

function unfold({ restarts }: { readonly restarts: boolean }): DisclosureStrategy {
  return {
    name: restarts ? 'unfold by restart' : 'unfold',
    toolNames: ['unfold'],
    showCost: false,
    suffix: ({ path, childKeys }) =>
      `(unfold ${path}${childKeys.length > 0 ? ` with ${childKeys.join(' and ')}` : ''})`,
    tools: (view) => [createUnfold(view, restarts)],
    getCalls: (_view, keys) => keys.map((key) => ({ name: 'unfold', arguments: { chapter: key } })),
    describeCall: ({ arguments: args }) => ({ keys: [(args as { chapter: string }).chapter], reason: '' }),
  }
}

for (const restarts of [true, false]) {
  disclosureSuite(unfold({ restarts }), {
    tools: ['unfold'],
    opens: restarts
      ? { content: 'by restart', tools: 'by restart' }
      : { content: 'in the result', tools: 'by injection' },
    alreadyFull: { content: 'refused', tools: 'refused' },
    suffixes: {
      content: '(unfold guide)',
      contentWithChildren: '(unfold manual with setup and limits)',
      tools: '(unfold verify)',
      toolsWithChildren: '(unfold admin with users and audit)',
    },
  })
}

const refund = defineTool({ name: 'refund_order', description: 'Refunds.', execute: () => ok('Refunded.') })
const bound = definePrompt({
  ns: 'test',
  key: 'outside',
  sections: [
    defineSection({ key: 'role', title: 'Role', template: 'You help.' }),
    defineSection({
      key: 'refunds',
      title: 'Refunds',
      template: 'Refund within 30 days.',
      summary: 'Refunds.',
      visibility: 'summary',
      tools: [refund],
    }),
  ],
}).bind()

async function play(disclosure: DisclosureStrategy) {
  const events: AgentEvent[] = []
  const adapter = scriptedAdapter([
    calls('refund_order'),
    calls('unfold', { chapter: 'Refunds' }),
    calls('refund_order'),
    says('Done.'),
  ])
  const result = await runAgent(bound, {
    adapter,
    session: createSession(),
    disclosure,
    input: 'Go.',
    onEvent: (event) => events.push(event),
  })
  const texts = result.messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))
  return { adapter, events, texts }
}

describe.each([true, false])('R36 R40 a third-party strategy in a run, by restart: %s', (restarts) => {
  it('is named in hints with its own tool, and events carry its keys', async () => {
    const { adapter, events, texts } = await play(unfold({ restarts }))
    expect(texts).toEqual([
      "Tool 'refund_order' belongs to the section 'refunds', which is not open yet. Call `unfold` with chapter \"refunds\" first.",
      restarts
        ? 'Opened: refunds. Its text is now in the system prompt, and its tools are in your tool list. Callable now: refund_order.'
        : '# Refunds\n\nRefund within 30 days.\n\nCallable now: refund_order.',
      'Refunded.',
    ])
    expect(JSON.stringify(adapter.requests)).not.toMatch(/read_section|open_sections|section_key/)
    const disclosures = events.flatMap((event) => (event.type === 'tool/invoked' && event.disclosure ? [event] : []))
    expect(disclosures).toMatchObject([
      { name: 'unfold', disclosure: { keys: ['refunds'], answer: restarts ? 'restart' : 'in-place' } },
    ])
  })

  it('needs only its tools', async () => {
    const { getCalls: _, describeCall: __, ...smallest } = unfold({ restarts })
    const { events, texts } = await play(smallest)
    expect(texts[0]).toBe(
      "Tool 'refund_order' belongs to the section 'refunds', which is not open yet. Open that section with `unfold` first.",
    )
    expect(texts[2]).toBe('Refunded.')
    const disclosures = events.flatMap((event) => (event.type === 'tool/invoked' ? [event.disclosure?.keys] : []))
    expect(disclosures).toEqual([undefined, ['refunds'], undefined])
  })
})
