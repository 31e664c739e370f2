import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryFilesystem } from '../../files/memory-filesystem.ts'
import { createHost } from '../../agent/hosts/core/host.ts'
import { definePrompt } from '../../prompt/prompt.ts'
import { defineSection } from '../../prompt/definition/section.ts'
import { gptTokenizer } from '../../core/tokens/gpt-tokenizer.ts'
import { skillSections } from './skill-sections.ts'

/** Descriptions of real skills have 60 to 1,000 characters, 300 on average. */
function makeSkills(count: number, folders: number): Readonly<Record<string, string>> {
  const files: Record<string, string> = {}
  for (let i = 0; i < count; i++) {
    const length = 8 + ((i * 37) % 90)
    const words = Array.from({ length }, (_, at) => WORDS[(i * 7 + at * 3) % WORDS.length]).join(' ')
    const folder = folders === 0 ? '' : `area-${i % folders}/`
    files[`${folder}skill-for-${i}/SKILL.md`] =
      `---\nname: skill-for-${i}\ndescription: ${words}.\n---\nAll about number ${i}.`
  }
  return files
}

const WORDS =
  'Create edit review deploy migrate databases spreadsheets documents invoices when the user asks for a report or wants to'.split(
    ' ',
  )

async function render(files: Readonly<Record<string, string>>, budget?: number) {
  const sections = await skillSections(createMemoryFilesystem(files), budget === undefined ? {} : { budget })
  return definePrompt({ ns: 't', key: 't', sections }).bind()
}

describe('R74 a list of skills', () => {
  it('R74 costs what a plain list costs if it may', async () => {
    const bound = await render(makeSkills(402, 0), Number.MAX_SAFE_INTEGER)
    const { text } = bound.render()
    expect(text.split('\n').filter((line) => line.startsWith('- '))).toHaveLength(402)
    expect((await gptTokenizer()).count(text)).toBeLessThanOrEqual(30_000)
  })

  it('R74 has at most 8,000 characters by default: shortened, then in folders, then found by a query', async () => {
    for (const [count, folders] of [
      [30, 0],
      [120, 0],
      [402, 0],
      [402, 12],
      [2_000, 200],
    ] as const) {
      const bound = await render(makeSkills(count, folders))
      const { text, view } = bound.render()
      expect(text.length).toBeLessThanOrEqual(8_200)
      expect(view.keys.filter((path) => path.endsWith('skill-for-7'))).toHaveLength(1)
    }
  })

  it('R74 opens a folder of skills, and then a skill', async () => {
    const host = createHost(await render(makeSkills(402, 12)))
    expect(host.at([]).getPrompt().text).toMatch(/^- area-0: 34 skills: skill-for-0, skill-for-108/m)
    const { text, events } = await host
      .at([])
      .call({ id: 'a', name: 'read_section', arguments: { section_key: 'area-0' } })
    expect(text).toMatch(/^- area-0\.skill-for-12: /m)
    const skill = { id: 'b', name: 'read_section', arguments: { section_key: 'area-0.skill-for-12' } }
    expect((await host.at(events).call(skill)).text).toContain('All about number 12.')
  })

  it('R74 finds a skill by a query if it shows only how many there are', async () => {
    const files = {
      ...makeSkills(600, 0),
      'beekeeping/SKILL.md': '---\nname: beekeeping\ndescription: Harvest honey.\n---\nUse smoke.',
    }
    const host = createHost(await render(files))
    expect(host.at([]).getPrompt().text).toContain('601 sections.')
    const call = { id: 'a', name: 'read_section', arguments: { query: 'harvest honey' } }
    expect((await host.at([]).call(call)).text).toContain('Use smoke.')
  })

  it('R74 keeps its bytes while skills are opened in place', async () => {
    const host = createHost(await render(makeSkills(50, 0)))
    const { text, events } = await host
      .at([])
      .call({ id: 'a', name: 'read_section', arguments: { section_key: 'skill-for-3' } })
    expect(host.at(events).getPrompt([text]).text).toBe(host.at([]).getPrompt().text)
    expect(host.at(events).getPrompt([]).text).toContain('All about number 3.')
  })

  it('R74 never has more characters than it may, whatever the sections say', () => {
    const texts = fc.array(fc.string({ minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 80 })
    fc.assert(
      fc.property(texts, fc.integer({ min: 200, max: 5_000 }), (summaries, listed) => {
        const sections = summaries.map((summary, i) =>
          defineSection({
            key: `k${i}`,
            title: `k${i}`,
            summary: summary.replaceAll('$', ''),
            template: 'x',
            visibility: 'summary',
            listed,
          }),
        )
        const { text } = definePrompt({ ns: 't', key: 't', sections }).bind().render()
        expect(text.split('\n\n---\n')[0]?.length).toBeLessThanOrEqual(Math.max(listed, 30))
        expect(text).toContain('These sections are summarized.')
      }),
      { numRuns: 100 },
    )
  })

  it('R74 stands where its first section is, and open ones stand in their places', () => {
    const make = (key: string) =>
      defineSection({
        key,
        title: key,
        summary: `About ${key}.`,
        template: `All of ${key}.`,
        visibility: 'summary',
        listed: true,
      })
    const role = defineSection({ key: 'role', title: 'Role', template: 'You help.' })
    const bound = definePrompt({ ns: 't', key: 't', sections: [role, make('a'), make('b'), make('c')] }).bind()
    expect(bound.render({ visibility: { b: 'full' } }).text).toBe(
      '## 1 Role\n\nYou help.\n\n- a: About a.\n- c: About c.\n\n---\n[These sections are summarized. Call `read_section` with a key to view the full content.]\n\n## 3 b\n\nAll of b.',
    )
  })
})
