import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PromptValidationError } from '../../entries/index.ts'
import { sourceOverrides } from '../../entries/overrides.ts'
import type { OverrideStore } from '../../entries/node.ts'
import {
  file,
  computeHash,
  prompt,
  support,
  tag,
  temporaryStore,
  toolHash,
  type TemporaryStore,
} from './store.fixtures.ts'
import { shared } from './writer.fixtures.ts'

let temporary: TemporaryStore
let store: OverrideStore
let root: string
let path: string
beforeEach(() => {
  temporary = temporaryStore()
  ;({ store, root, path } = temporary)
})
afterEach(() => temporary.remove())
const text = (): string => temporary.text()
const put = (content: string | Uint8Array): void => temporary.put(content)

const lines = (...all: string[]): string => `${all.join('\n')}\n`

describe('seed', () => {
  it('R16 writes the texts of the source, in the order of the prompt', async () => {
    expect(await store.seed(prompt, { tag })).toEqual({ path, written: true })
    expect(text()).toBe(
      lines(
        '{',
        '  "version": 1,',
        '  "ns": "agents/support",',
        '  "key": "triage",',
        '  "tag": "stable",',
        '  "sections": {',
        '    "task": {',
        `      "hash": "${computeHash('task')}",`,
        '      "body": "Answer ${user}."',
        '    },',
        '    "context": {',
        `      "hash": "${computeHash('context')}",`,
        '      "body": "Be kind to ${user}.",',
        '      "summary": "How to be."',
        '    },',
        '    "context.details": {',
        `      "hash": "${computeHash('context.details')}",`,
        '      "body": "Always."',
        '    },',
        '    "now": {',
        `      "hash": "${computeHash('now')}"`,
        '    }',
        '  },',
        '  "tools": {',
        '    "search": {',
        `      "hash": "${toolHash}",`,
        '      "description": "Searches.",',
        '      "fields": {',
        '        "query": "What to look for."',
        '      }',
        '    }',
        '  }',
        '}',
      ),
    )
    expect(readdirSync(dirname(path))).toEqual(['stable.json'])
  })

  it('R15 does not change the render', async () => {
    await store.seed(prompt, { tag })
    const resolved = await store.resolve(prompt, { tag })
    expect(resolved).toEqual({ overrides: sourceOverrides(prompt), ignored: [] })
    const bound = prompt.bind({ user: 'Ann' })
    expect(bound.render({ overrides: resolved!.overrides }).text).toBe(bound.render().text)
  })

  it('R16 leaves an existing file unchanged', async () => {
    const mine = file({ sections: { task: { hash: 'old', body: 'Mine.' } } })
    put(mine)
    expect(await store.seed(prompt, { tag })).toEqual({ path, written: false })
    expect(text()).toBe(mine)
  })
})

describe('resolve', () => {
  it('R16 returns nothing and creates nothing if there is no file', async () => {
    expect(await store.resolve(prompt, { tag })).toBeUndefined()
    expect(readdirSync(root)).toEqual([])
  })

  it('R16 leaves out stale, unknown and rejected entries, reports them, and keeps them in the file unchanged', async () => {
    const context = { hash: computeHash('context'), summary: 'Kindly.' }
    const content = file({
      sections: {
        gone: { hash: 'x', body: 'Gone.' },
        task: { hash: 'stale', body: 'Stale ${nonsense}.' },
        context,
        now: { hash: computeHash('now'), body: 'Later.' },
        law: { hash: computeHash('law'), body: 'Harm.' },
      },
      tools: {
        search: { hash: toolHash, fields: { query: 'Words.', nope: 'Nothing.' } },
        report: { hash: 'x', description: 'R.' },
        read_section: { hash: 'x', description: 'Never call it.' },
      },
    }).replaceAll('\n  ', '\n\t')
    put(content)
    const resolved = await store.resolve(prompt, { tag })
    expect(resolved!.overrides).toEqual({
      sections: { context },
      tools: { search: { hash: toolHash, fields: { query: 'Words.' } } },
    })
    expect(resolved!.ignored.map(({ target, name, reason, message }) => [target, name, reason, message])).toEqual([
      ['section', 'gone', 'unknown', "There is no section 'gone' in this prompt."],
      [
        'section',
        'task',
        'stale',
        "Section 'task' has changed since its override was written. Compare the two and write the override again.",
      ],
      ['section', 'now', 'refused', "The body of section 'now' is rendered by a function and cannot be overridden."],
      ['section', 'law', 'refused', "Section 'law' does not accept overrides."],
      ['tool', 'search', 'unknown', "Tool 'search' has no field 'nope'."],
      ['tool', 'report', 'refused', "Section 'law' does not accept overrides, so neither does its tool 'report'."],
      ['tool', 'read_section', 'unknown', "No section of this prompt has a tool 'read_section'."],
    ])
    expect(text()).toBe(content)
    expect(readdirSync(dirname(path))).toEqual(['stable.json'])
    const rendered = prompt.bind({ user: 'Ann' }).render({ overrides: resolved!.overrides })
    expect(rendered.text).toContain('Kindly.')
    expect(rendered.trace).toEqual([])
  })

  it('R16 keeps the tags and prompts in one folder separate', async () => {
    await store.upsert(prompt, { tag: 'a', section: { path: 'task', body: 'A.' } })
    await store.upsert(prompt, { tag: 'b', section: { path: 'task', body: 'B.' } })
    await store.upsert(shared, { tag: 'a', section: { path: 's0', body: 'S.' } })
    const body = async (tag: string) => (await store.resolve(prompt, { tag }))!.overrides.sections!['task']!.body
    expect([await body('a'), await body('b')]).toEqual(['A.', 'B.'])
  })
})

describe('rendering with resolved overrides', () => {
  const render = async () => {
    const resolved = await store.resolve(prompt, { tag })
    return prompt.bind({ user: 'Ann' }).render({ overrides: resolved!.overrides })
  }

  it('R15 shows an overridden body with its values', async () => {
    await store.upsert(prompt, { tag, section: { path: 'task', body: 'Help ${user} now; $${this} is literal.' } })
    const { text } = await render()
    expect(text).toContain('## 1 Task\n\nHelp Ann now; ${this} is literal.')
    expect(text).not.toContain('Answer')
  })

  it('R15 shows the overridden summary of a folded section and leaks neither body', async () => {
    await store.upsert(prompt, { tag, section: { path: 'context', body: 'Secret ${user}.', summary: 'For ${user}.' } })
    const { text } = await render()
    expect(text).toContain('## 2 Context\n\nFor Ann.')
    expect(text).not.toMatch(/Secret|Be kind|How to be/)
  })

  it('R15 opens and folds sections as overridden', async () => {
    await store.upsert(prompt, { tag, section: { path: 'context', visibility: 'full' } })
    await store.upsert(prompt, { tag, section: { path: 'task', summary: 'What to do.', visibility: 'summary' } })
    const { text, tools } = await render()
    expect(text).toContain('Be kind to Ann.')
    expect(text).toContain('What to do.')
    expect(text).not.toContain('Answer Ann.')
    expect(tools.map(({ name }) => name)).not.toContain('search')
  })

  it('R15 sends overridden descriptions of a tool and its fields to the provider', async () => {
    await store.upsert(prompt, {
      tag,
      tool: { name: 'search', description: 'Finds.', fields: { query: 'Words.', 'filter.name': 'A name.' } },
    })
    const tool = (await render()).tools.find(({ name }) => name === 'search')!
    expect(tool.description).toBe('Finds.')
    expect(tool.inputSchema).toMatchObject({
      properties: {
        query: { type: 'string', description: 'Words.' },
        filter: { properties: { name: { description: 'A name.' } } },
      },
    })
  })
})

describe('upsert', () => {
  it('R16 creates a file with the hashes of the source', async () => {
    await store.upsert(prompt, {
      tag,
      section: { path: 'context', visibility: 'full', body: 'B.' },
      tool: { name: 'search', description: 'Finds.' },
    })
    expect(text()).toBe(
      file({
        sections: { context: { hash: computeHash('context'), body: 'B.', visibility: 'full' } },
        tools: { search: { hash: toolHash, description: 'Finds.' } },
      }),
    )
  })

  it('R16 merges into an entry, in the order of the prompt', async () => {
    await store.upsert(prompt, { tag, section: { path: 'context', visibility: 'full' } })
    await store.upsert(prompt, { tag, tool: { name: 'search', fields: { query: 'Q.', 'filter.name': 'N.' } } })
    await store.upsert(prompt, { tag, section: { path: 'task', body: 'T.' } })
    await store.upsert(prompt, { tag, tool: { name: 'search', description: 'Finds.', fields: { query: 'Words.' } } })
    await store.upsert(prompt, { tag, section: { path: 'context', body: '' } })
    expect(text()).toBe(
      file({
        sections: {
          task: { hash: computeHash('task'), body: 'T.' },
          context: { hash: computeHash('context'), body: '', visibility: 'full' },
        },
        tools: {
          search: { hash: toolHash, description: 'Finds.', fields: { query: 'Words.', 'filter.name': 'N.' } },
        },
      }),
    )
  })

  it('R16 drops the rest of a stale entry it rewrites, and keeps the other stale ones', async () => {
    await store.upsert(prompt, { tag, section: { path: 'context', body: 'Old.', summary: 'Old.', visibility: 'full' } })
    const before = text()
    const changed = support('Be kinder to ${user}.')
    expect((await store.resolve(changed, { tag }))!.ignored.map(({ name, reason }) => [name, reason])).toEqual([
      ['context', 'stale'],
    ])
    expect(text()).toBe(before)

    await store.upsert(changed, { tag, section: { path: 'task', body: 'T.' } })
    expect(text()).toContain(before.slice(before.indexOf('    "context": {'), before.indexOf('    }\n')))
    await store.upsert(changed, { tag, section: { path: 'context', body: 'New.' } })
    expect(text()).toBe(
      file({
        sections: {
          task: { hash: computeHash('task'), body: 'T.' },
          context: { hash: computeHash('context', changed), body: 'New.' },
        },
        tools: {},
      }),
    )
    expect((await store.resolve(changed, { tag }))!.ignored).toEqual([])
  })

  it('R16 drops the rest of a stale entry of a tool', async () => {
    put(file({ sections: {}, tools: { search: { hash: 'stale', description: 'Old.', fields: { query: 'Old.' } } } }))
    await store.upsert(prompt, { tag, tool: { name: 'search', fields: { 'filter.name': 'N.' } } })
    expect(text()).toBe(file({ sections: {}, tools: { search: { hash: toolHash, fields: { 'filter.name': 'N.' } } } }))
  })

  it('R16 keeps entries that the prompt no longer has, after the others', async () => {
    const gone = { hash: 'x', body: 'Gone.' }
    put(file({ sections: { gone, 'gone.too': gone } }))
    await store.upsert(prompt, { tag, section: { path: 'task', body: 'T.' } })
    expect(text()).toBe(
      file({ sections: { task: { hash: computeHash('task'), body: 'T.' }, gone, 'gone.too': gone }, tools: {} }),
    )
  })

  it.each([
    [{}, 'There is nothing to write. Pass a `section`, a `tool`, `ahead` or `overrides`.'],
    [
      { section: { path: 'contxt', body: 'x' } },
      "This prompt has no section 'contxt' to override. Did you mean 'context'?",
    ],
    [{ section: { path: 'law', body: 'x' } }, "Section 'law' does not accept overrides."],
    [
      { section: { path: 'now', body: 'x' } },
      "The body of section 'now' is rendered by a function and cannot be overridden.",
    ],
    [
      { section: { path: 'task', body: 'For ${usr}.' } },
      "Section 'task': its overridden template names ${usr}, which its params do not have. Its params are user. Write $${ for a literal ${.",
    ],
    [
      { section: { path: 'task', summary: 'For ${usr}.' } },
      "Section 'task': its overridden summary names ${usr}, which its params do not have. Its params are user. Write $${ for a literal ${.",
    ],
    [
      { section: { path: 'task', body: 'For ${}.' } },
      'The override cannot be written: section.body has a placeholder ${} without a name; name it, or write $${} for the literal text.',
    ],
    [
      { section: { path: 'task', visibility: 'ful' as 'full' } },
      'The override cannot be written: section.visibility is "ful"; use "full" or "summary".',
    ],
    [
      { section: { path: 'task', visibility: 'summary' } },
      "Section 'task' cannot be folded by an override, because it has no summary. Override its summary too.",
    ],
    [
      { section: { path: 'task', boddy: 'x' } },
      'The override cannot be written: section.boddy is not known; use hash, body, summary, visibility.',
    ],
    [
      { section: { path: 'task' } },
      'The override cannot be written: there is nothing to write; give a body, a summary or a visibility.',
    ],
    [
      { tool: { name: 'serch', description: 'x' } },
      "This prompt has no tool 'serch' to override. Did you mean 'search'?",
    ],
    [{ tool: { name: 'read_section', description: 'x' } }, "This prompt has no tool 'read_section' to override."],
    [
      { tool: { name: 'report', description: 'x' } },
      "Section 'law' does not accept overrides, so neither does its tool 'report'.",
    ],
    [{ tool: { name: 'search', fields: { qery: 'x' } } }, "Tool 'search' has no field 'qery'."],
    [
      { tool: { name: 'search', description: 5 as unknown as string } },
      'The override cannot be written: tool.description is 5; use a string.',
    ],
    [
      { section: { path: 'task', body: 'Fine.' }, tool: { name: 'search' } },
      'The override cannot be written: there is nothing to write; give a description, fields or core.',
    ],
  ] as const)('R15 rejects %j and writes nothing', async (edits, message) => {
    const error = await store.upsert(prompt, { tag, ...edits }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(PromptValidationError)
    expect((error as Error).message).toBe(message)
    expect(existsSync(path)).toBe(false)
    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  it('R79 writes and deletes what opens ahead, beside the texts', async () => {
    await store.upsert(prompt, { tag, section: { path: 'task', body: 'T.' }, ahead: { max: 2, minFit: 'weak' } })
    await store.upsert(prompt, { tag, section: { path: 'task', summary: 'S.' } })
    const task = { hash: computeHash('task'), body: 'T.', summary: 'S.' }
    const overrides = { sections: { task }, tools: {}, ahead: { max: 2, minFit: 'weak' } }
    expect(await store.resolve(prompt, { tag })).toEqual({ overrides, ignored: [] })
    expect(await store.delete(prompt, { tag, ahead: true })).toBe(true)
    expect(await store.delete(prompt, { tag, ahead: true })).toBe(false)
    expect((await store.resolve(prompt, { tag }))?.overrides).toEqual({ sections: { task }, tools: {} })
    const wrong = store.upsert(prompt, { tag, ahead: { max: Number.NaN } })
    await expect(wrong).rejects.toThrow('The override cannot be written: ahead.max is null; use a number, 0 or more.')
  })

  it('R79 writes many entries at once, merged into the file or in its place, and refuses all if one is wrong', async () => {
    const visibility = 'full' as const
    const [task, context] = ['task', 'context'].map((name) => ({ hash: computeHash(name), visibility }))
    await store.upsert(prompt, { tag, section: { path: 'task', body: 'T.' } })
    await store.upsert(prompt, { tag, overrides: { sections: { context: context! }, ahead: { max: 1 } } })
    expect((await store.resolve(prompt, { tag }))?.overrides).toEqual({
      sections: { task: { hash: task!.hash, body: 'T.' }, context },
      tools: {},
      ahead: { max: 1 },
    })
    await store.upsert(prompt, { tag, overrides: { sections: { task: task! } }, replace: true })
    const after = { overrides: { sections: { task }, tools: {} }, ignored: [] }
    expect(await store.resolve(prompt, { tag })).toEqual(after)
    for (const bad of [
      { hash: 'old', visibility },
      { hash: context!.hash, visibility: 'open' as never },
    ]) {
      const sections = { task: { ...task!, body: 'New.' }, context: bad }
      const writing = store.upsert(prompt, { tag, overrides: { sections }, replace: true })
      await expect(writing).rejects.toBeInstanceOf(PromptValidationError)
      expect(await store.resolve(prompt, { tag })).toEqual(after)
    }
  })

  it('R15 can fold with a summary from an earlier override', async () => {
    await store.upsert(prompt, { tag, section: { path: 'task', summary: 'S.' } })
    await store.upsert(prompt, { tag, section: { path: 'task', visibility: 'summary' } })
    expect((await store.resolve(prompt, { tag }))!.overrides.sections).toEqual({
      task: { hash: computeHash('task'), summary: 'S.', visibility: 'summary' },
    })
  })
})

describe('delete', () => {
  it('R16 removes one entry, even one that the prompt no longer has, and returns whether it existed', async () => {
    const task = { hash: computeHash('task'), body: 'T.' }
    put(file({ sections: { gone: { hash: 'x' }, task }, tools: { search: { hash: toolHash, description: 'F.' } } }))
    expect(await store.delete(prompt, { tag, section: 'gone' })).toBe(true)
    expect(text()).toBe(file({ sections: { task }, tools: { search: { hash: toolHash, description: 'F.' } } }))
    expect(await store.delete(prompt, { tag, tool: 'search' })).toBe(true)
    expect(text()).toBe(file({ sections: { task }, tools: {} }))
    const before = statSync(path).mtimeMs
    expect(await store.delete(prompt, { tag, section: 'gone' })).toBe(false)
    expect(await store.delete(prompt, { tag, tool: 'toString' })).toBe(false)
    expect(statSync(path).mtimeMs).toBe(before)
  })

  it('R16 removes the whole file', async () => {
    await store.seed(prompt, { tag })
    expect(await store.delete(prompt, { tag })).toBe(true)
    expect(readdirSync(dirname(path))).toEqual([])
    expect(await store.resolve(prompt, { tag })).toBeUndefined()
    expect(await store.delete(prompt, { tag })).toBe(false)
  })

  it('R16 creates no folders if there is no file', async () => {
    expect(await store.delete(prompt, { tag, section: 'task' })).toBe(false)
    expect(readdirSync(root)).toEqual([])
  })

  it.each(['section', 'tool', 'ahead'])('R16 does not treat an undefined %s as the whole file', async (name) => {
    await store.seed(prompt, { tag })
    await expect(store.delete(prompt, { tag, [name]: undefined })).rejects.toThrow(
      `The \`${name}\` to delete is undefined. Name it, or leave it out to delete the whole file.`,
    )
    expect(existsSync(path)).toBe(true)
  })
})
