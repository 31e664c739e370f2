import { describe, expect, it } from 'vitest'
import { openSections } from '../disclosure/strategies/open-sections.ts'
import { definePrompt } from '../prompt/prompt.ts'
import { defineSection } from '../prompt/definition/section.ts'
import { measurePrompt } from './section-costs.ts'

const words = {
  name: 'words',
  exact: true,
  count: (text: string) => text.split(/\s+/).filter((word) => word !== '').length,
}
const inner = defineSection({ key: 'inner', title: 'Inner', template: 'three more words' })
const outer = defineSection({
  key: 'outer',
  title: 'Outer',
  template: 'one two three four',
  summary: 'short',
  visibility: 'summary',
  children: [inner],
})
const bound = definePrompt({ ns: 'test', key: 'measured', sections: [outer], counter: words }).bind()

describe('R41 measurePrompt', () => {
  it('counts every section like the prompt does, open and folded, whatever is open', () => {
    const { sections, disclosureTools } = measurePrompt(bound)
    expect(sections.map(({ path, visibility, fullTokens }) => [path, visibility, fullTokens])).toEqual([
      ['outer', 'summary', words.count('## 1 Outer one two three four')],
      ['outer.inner', 'full', words.count('### 1.1 Inner three more words')],
    ])
    const [node] = bound.render().nodes
    expect(sections[0]?.summaryTokens).toBe(node?.tokens)
    expect(sections[1]?.summaryTokens).toBeNull()
    expect(disclosureTools.map(({ name }) => name)).toEqual(['read_section'])
  })

  it('takes a strategy and a counter', () => {
    const counter = { name: 'none', exact: true, count: () => 0 }
    const { sections, disclosureTools } = measurePrompt(bound, { disclosure: openSections(), counter })
    expect(sections[0]?.fullTokens).toBe(0)
    expect(disclosureTools.map(({ name }) => name)).toEqual(['open_sections'])
  })
})
