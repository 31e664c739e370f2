import { definePrompt, defineSection, openSections, readSection } from 'foldout'
import { measurePrompt } from 'foldout/telemetry'
import { describe, expect, it } from 'vitest'
import { clerk } from '../../cli/prompts/desk.fixtures.ts'
import type { PromptRequest, PromptView } from '../protocol/protocol.ts'
import { describePrompt } from './source.ts'

const NOTHING: PromptRequest = { visibility: {} }

function describeBound(bound: Parameters<typeof measurePrompt>[0] & typeof clerk, request: PromptRequest): PromptView {
  return describePrompt(
    {
      bound,
      createStrategy: (name) => (name === 'open-sections' ? openSections() : readSection()),
      measure: (disclosure) => measurePrompt(bound, disclosure ? { disclosure } : {}),
    },
    request,
  )
}

describe('R59 the prompt view', () => {
  it('has every section with its cost, folded and open, and its place in the text', () => {
    const { sections, text, spans, tokens, tokensIfAllOpen, tools } = describeBound(clerk, NOTHING)
    expect(sections.map(({ path, state, depth, title }) => [path, state, depth, title])).toEqual([
      ['role', 'open', 0, 'Role'],
      ['refunds', 'folded', 0, 'Refunds'],
      ['refunds.vouchers', 'hidden', 1, 'Vouchers'],
    ])
    const rendered = clerk.render()
    expect(text).toBe(rendered.text)
    expect(spans.map(({ path, start, end }) => [path, text.slice(start, end)])).toEqual(
      rendered.nodes.map((node) => [node.path, node.text]),
    )
    expect(tokens.total).toBe(rendered.tokens.total)
    expect(tokensIfAllOpen.total).toBe(rendered.tokensIfAllOpen.total)
    expect(tools.map(({ name, section }) => [name, section])).toEqual([['read_section', undefined]])
  })

  it('gives the same cost of opening a section as rendering it open', () => {
    const folded = describeBound(clerk, NOTHING)
    const open = describeBound(clerk, { visibility: { refunds: 'open' } })
    const find = ({ sections }: PromptView) => sections.find(({ path }) => path === 'refunds')
    expect(find(open)?.subtree).toBe(find(folded)?.ifOpen)
    expect(find(folded)?.subtree).toBe(find(folded)?.ifFolded)
    expect(open.tools.map(({ name }) => name)).toEqual(['refund_order', 'read_section'])
    expect(open.sections.map(({ state }) => state)).toEqual(['open', 'open', 'folded'])
  })

  it('renders with another strategy', () => {
    const { strategy, tools } = describeBound(clerk, { ...NOTHING, strategy: 'open-sections' })
    expect(strategy).toBe('openSections')
    expect(tools.map(({ name }) => name)).toEqual(['open_sections'])
  })

  it('ignores sections that do not exist, whatever they are called', () => {
    const visibility = JSON.parse('{"__proto__": "open", "constructor": "open", "gone": "folded"}') as object
    expect(describeBound(clerk, { visibility: visibility as PromptRequest['visibility'] }).text).toBe(
      clerk.render().text,
    )
  })

  it('finds sections that cost more folded than open, and those that could be folded', () => {
    const long = 'One more sentence that says a little more about it. '
    const bound = definePrompt({
      ns: 'test',
      key: 'lint',
      sections: [
        defineSection({ key: 'short', title: 'Short', template: 'Yes.', summary: long, visibility: 'summary' }),
        defineSection({ key: 'large', title: 'Large', template: long.repeat(30), summary: 'Large.' }),
        defineSection({ key: 'bare', title: 'Bare', template: long.repeat(80) }),
        defineSection({ key: 'right', title: 'Right', template: long.repeat(30), summary: '…', visibility: 'summary' }),
      ],
    }).bind()
    const { findings, sections } = describeBound(bound as unknown as typeof clerk, NOTHING)
    expect(findings.map(({ kind, path }) => [kind, path])).toEqual([
      ['write-summary', 'bare'],
      ['fold', 'large'],
      ['costs-more-folded', 'short'],
    ])
    const large = sections.find(({ path }) => path === 'large')
    expect(findings[1]?.saves).toBe((large?.subtree ?? 0) - (large?.ifFolded ?? 0))
    expect(findings[2]?.message).toMatch(/costs more folded \(\d+ tokens\) than open \(\d+ tokens\)/)
  })

  it('finds that folding costs more than it saves', () => {
    const { findings } = describeBound(clerk, NOTHING)
    expect(findings[0]?.kind).toBe('folding-costs-more')
  })
})
