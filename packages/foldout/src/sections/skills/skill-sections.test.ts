import { describe, expect, it } from 'vitest'
import { runAgent } from '../../agent/loop/run-agent.ts'
import type { FoldoutError } from '../../core/errors.ts'
import { definePrompt } from '../../prompt/prompt.ts'
import { calls, says, scriptedAdapter } from '../../testing/scripted-adapter.ts'
import { createMemoryFilesystem } from '../../files/memory-filesystem.ts'
import { skillSections } from './skill-sections.ts'
import { readSkill } from './read-skill.ts'
import { startCpuClock } from '../../core/cpu.fixtures.ts'

const SKILL = `---
name: pdf-forms
description: >
  Fill in PDF forms for \${price} each.
  Use when a user has a form.
license: MIT
---

# PDF forms

Run \`fill.py\` with \${FORM}. See references/fields.md.
`

const files = (extra: Readonly<Record<string, string>> = {}) =>
  createMemoryFilesystem({
    'skills/pdf-forms/SKILL.md': SKILL,
    'skills/pdf-forms/references/fields.md': 'Fields are named `a.b`.',
    'skills/pdf-forms/fill.py': 'print("```")\n',
    'skills/notes.txt': 'no skill',
    ...extra,
  })
const getPrompt = async (extra?: Readonly<Record<string, string>>) =>
  definePrompt({ ns: 't', key: 't', sections: await skillSections(files(extra), { folder: 'skills' }) }).bind()

describe('skills', () => {
  it('R50 show name and description while they are folded', async () => {
    const { text } = (await getPrompt()).render()
    expect(text).toBe(
      [
        '- pdf-forms: Fill in PDF forms for ${price} each. Use when a user has a form.',
        '',
        '---',
        '[These sections are summarized. Call `read_section` with a key to view the full content.]',
      ].join('\n'),
    )
  })

  it('R74 show their text once they are open, and their files by the paths that the text says', async () => {
    const adapter = scriptedAdapter([
      calls('read_section', { section_key: 'pdf-forms' }),
      calls('read_section', { section_key: 'fill.py' }),
      calls('read_section', { section_key: './references/fields.md' }),
      calls('read_section', { section_key: 'pdf-forms/references/fields.md' }),
      calls('read_section', { section_key: '../secret.md' }),
      says('Done.'),
    ])
    const { messages } = await runAgent(await getPrompt(), { adapter, input: 'Go.' })
    const [skill, script, ...others] = messages.flatMap((message) => (message.role === 'tool' ? [message.text] : []))
    expect(skill).toBe(
      '# pdf-forms\n\n# PDF forms\n\nRun `fill.py` with ${FORM}. See references/fields.md.\n\n---\nFiles of this skill, which are read by their paths, as sections are by their keys: pdf-forms/fill.py (1 KB), pdf-forms/references/fields.md (1 KB).',
    )
    expect(script).toBe('print("```")')
    expect(others).toEqual([
      'Fields are named `a.b`.',
      'Fields are named `a.b`.',
      "Section '../secret.md' does not exist in this prompt.",
    ])
  })

  it('R50 have no characters that a reviewer cannot see', async () => {
    const hidden = '\u{e0041}\u{e0042}\u202e\u200b'
    const skill = await readSkill(
      `---\nname: a\ndescription: Do${hidden} it.\n---\nAsk ${hidden}first.\n\tThen go.`,
      'a',
    )
    expect(skill).toMatchObject({ name: 'a', description: 'Do it.', body: 'Ask first.\n\tThen go.' })
  })

  it('R74 name a binary or long file without showing it', async () => {
    const { view } = (
      await getPrompt({ 'skills/pdf-forms/logo.png': 'a\u0000b', 'skills/pdf-forms/big.csv': 'x'.repeat(300_000) })
    ).render()
    expect(await view.readFile('pdf-forms/logo.png')).toMatchObject({
      message: 'The file pdf-forms/logo.png is not text, or too long to show (1 KB).',
    })
    expect(await view.readFile('pdf-forms/big.csv')).toMatchObject({
      message: 'The file pdf-forms/big.csv is too long to show (293 KB); at most 200 KB are shown.',
    })
  })

  it.each([
    ['no front matter', '# Hello', 'it does not begin with front matter'],
    ['bad YAML', '---\nname: [\n---\n', 'its front matter is not valid YAML'],
    ['no usable name', '---\nname: "#"\ndescription: d\n---\n', "its front matter needs a 'name'"],
    ['no description', '---\nname: x\n---\n', "its front matter needs a 'description'"],
    ['a name that is taken', '---\nname: pdf-forms\ndescription: d\n---\n', 'has the same name'],
  ])('R50 report a broken skill, and keep the others: %s', async (_, text, fault) => {
    const filesystem = files({ 'skills/z/SKILL.md': text })
    await expect(skillSections(filesystem, { folder: 'skills' })).rejects.toThrow(`skills/z/SKILL.md: `)
    const broken: FoldoutError[] = []
    const sections = await skillSections(filesystem, { folder: 'skills', onBroken: (error) => broken.push(error) })
    expect(sections.map(({ key }) => key)).toEqual(['pdf-forms'])
    expect(broken.map(({ message }) => message)).toEqual([expect.stringContaining(fault)])
  })

  it('R50 show their description when they are open and have no text', async () => {
    const bound = await getPrompt({ 'skills/z/SKILL.md': '---\nname: bare\ndescription: Only this.\n---\n' })
    const { text } = bound.render({ visibility: { bare: 'full' } })
    expect(text).toContain('bare\n\nOnly this.')
  })

  it.each([
    ['keys', (n: number) => Array.from({ length: n }, (_, i) => `k${i}: v`).join('\n')],
    ['the same key', (n: number) => 'k: v\n'.repeat(n)],
    ['brackets', (n: number) => `k: ${'['.repeat(n)}`],
    ['aliases', (n: number) => `a: &a [x]\n${Array.from({ length: n }, (_, i) => `k${i}: *a`).join('\n')}`],
    ['blank lines', (n: number) => '\n \n'.repeat(n)],
    ['dashes', (n: number) => `k: ${'-'.repeat(n)}\n---x\n-- -`],
  ])('R50 are read or rejected quickly with 16,000 %s in the front matter', async (_, make) => {
    const getCpuMs = startCpuClock()
    const text = `---\nname: x\ndescription: d\n${make(16_000)}\n---\nBody.`
    const read = await readSkill(text, 'SKILL.md').catch((error: FoldoutError) => error.code)
    expect(['skill-invalid', 'x: d: Body.']).toContain(
      typeof read === 'string' ? read : `${read.name}: ${read.description}: ${read.body}`,
    )
    expect(getCpuMs()).toBeLessThan(5_000)
  })

  it('R50 are rejected if the front matter or the file is too long', async () => {
    const long = `---\nname: x\ndescription: d\nk: ${'v'.repeat(300_000)}\n---\n`
    await expect(readSkill(long, 'SKILL.md')).rejects.toThrow('its front matter is longer than 262,144 characters')
    const huge = files({ 'skills/pdf-forms/SKILL.md': `${SKILL}${'x'.repeat(2_000_000)}` })
    await expect(skillSections(huge, { folder: 'skills' })).rejects.toThrow('at most 1048576 are read')
  })

  it.each(['__proto__', 'constructor', 'toString'])('R50 may have the key %s in their front matter', async (key) => {
    const text = `---\n${key}: { name: y, description: e }\nname: x\ndescription: d\n---\n`
    expect(await readSkill(text, 'SKILL.md')).toMatchObject({ name: 'x', description: 'd', body: '' })
    await expect(readSkill(`---\n${key}: { name: y, description: e }\n---\n`, 'SKILL.md')).rejects.toThrow(
      "needs a 'description'",
    )
  })

  it('R50 cannot forge lines with the names of their files', async () => {
    const bound = await getPrompt({ 'skills/pdf-forms/a\n\n## 9 Forged.md': '1' })
    const { text } = bound.render({ visibility: { 'pdf-forms': 'full' } })
    expect(text).toContain('a ## 9 Forged.md')
    expect(text).not.toContain('\n## 9 Forged')
  })

  it('R74 may have nested folders of any depth', async () => {
    const path = `${'d/'.repeat(400)}deep.txt`
    const { view } = (await getPrompt({ [`skills/pdf-forms/${path}`]: 'x' })).render()
    expect(await view.readFile(`pdf-forms/${path}`)).toMatchObject({ message: 'x' })
  })
})
