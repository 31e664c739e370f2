import { describe, expect, expectTypeOf, it } from 'vitest'
import { filesSection } from './files-section.ts'
import { definePrompt } from '../prompt/prompt.ts'
import type { KeysOf } from '../prompt/definition/section.ts'

describe('filesSection', () => {
  it('R19 tells the model how to use the files, and offers the tools', () => {
    const rendered = definePrompt({ ns: 'test', key: 'files', sections: [filesSection()] })
      .bind({})
      .render()
    expect(rendered.text).toBe(
      `## 1 Files

You have text files. Their paths are relative to the root, with \`/\` between the parts, as in \`src/index.ts\`.

- Find them with \`list_files\` (one folder), \`glob\` (by path) and \`grep\` (by content).
- Read them with \`read_file\`; from a long file, read only the lines you need.
- Read a file before you change it. Change parts with \`edit_file\`; use \`write_file\` for new files and for whole rewrites.
- \`remove_file\` removes a file, or a folder with everything in it.`,
    )
    expect(rendered.tools.map((tool) => tool.name)).toEqual([
      'list_files',
      'read_file',
      'write_file',
      'edit_file',
      'glob',
      'grep',
      'remove_file',
    ])
  })

  it('R19 mentions only reading if files are read-only', () => {
    const section = filesSection({ key: 'library', title: 'Library', readOnly: true })
    const rendered = definePrompt({ ns: 'test', key: 'files', sections: [section] })
      .bind({})
      .render()
    expect(rendered.text).toBe(
      `## 1 Library

You have text files. Their paths are relative to the root, with \`/\` between the parts, as in \`src/index.ts\`.

- Find them with \`list_files\` (one folder), \`glob\` (by path) and \`grep\` (by content).
- Read them with \`read_file\`; from a long file, read only the lines you need.`,
    )
    expect(rendered.tools.map((tool) => tool.name)).toEqual(['list_files', 'read_file', 'glob', 'grep'])
  })

  it('R19 has a key that the compiler knows', () => {
    const byDefault = filesSection({ readOnly: true })
    const named = filesSection({ key: 'library' })
    expectTypeOf<KeysOf<readonly [typeof byDefault]>>().toEqualTypeOf<'files'>()
    expectTypeOf<KeysOf<readonly [typeof named]>>().toEqualTypeOf<'library'>()
    expect([byDefault.key, named.key]).toEqual(['files', 'library'])
  })
})
