import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PromptValidationError, type AnyPrompt } from '../../entries/index.ts'
import { createOverrideStore, type OverrideStore } from '../../entries/node.ts'
import { file, computeHash, prompt, tag, temporaryStore, type TemporaryStore } from './store.fixtures.ts'

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

const operations: readonly [string, (tag: string, of?: AnyPrompt) => Promise<unknown>][] = [
  ['seed', (tag, of = prompt) => store.seed(of, { tag })],
  ['resolve', (tag, of = prompt) => store.resolve(of, { tag })],
  ['upsert', (tag, of = prompt) => store.upsert(of, { tag, section: { path: 'task', body: 'T.' } })],
  ['delete', (tag, of = prompt) => store.delete(of, { tag })],
  ['delete of one', (tag, of = prompt) => store.delete(of, { tag, section: 'task' })],
]

describe.each(operations)('%s', (_, operate) => {
  it.each(['', '.', '..', '../x', 'a/b', 'a\\b', 'a.b', 'A', ' a', 'a\n', '-a', 'a\0', 'a'.repeat(65), undefined])(
    'R16 rejects the tag %j before it touches the disk',
    async (bad) => {
      const error = await operate(bad as string).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(PromptValidationError)
      expect((error as Error).message).toBe(
        `'${bad}' cannot be a tag. Use 1 to 64 lowercase letters, digits, hyphens and underscores, starting with a letter or digit.`,
      )
      expect(readdirSync(root)).toEqual([])
    },
  )

  it('R16 rejects an object that only looks like a prompt, whose ns could lead anywhere', async () => {
    await expect(operate(tag, { ...prompt, ns: '../..' })).rejects.toThrow('This is not a prompt.')
    expect(readdirSync(root)).toEqual([])
  })

  it('R16 reports a malformed file and leaves it unchanged', async () => {
    const content = file({ sections: { context: { hash: 'x', visibility: 'ful' as 'full' } } })
    put(content)
    await expect(operate(tag)).rejects.toMatchObject({
      code: 'override-file',
      message: `The override file '${path}' cannot be used. In it, sections.context.visibility is "ful"; use "full" or "summary". Fix it by hand, or move it away to start over.`,
    })
    expect(text()).toBe(content)
    expect(readdirSync(dirname(path))).toEqual(['stable.json'])
  })
})

describe('a malformed file', () => {
  const valid = { version: 1, ns: 'agents/support', key: 'triage', tag, sections: {}, tools: {} }
  it.each<[unknown, string]>([
    [[], 'the whole is a list; use an object'],
    [null, 'the whole is null; use an object'],
    [{ ...valid, version: 2 }, 'version is 2; use 1'],
    [{}, 'version is missing; use 1'],
    [{ ...valid, ns: 'agents' }, 'ns is "agents"; use "agents/support", to match the location of the file'],
    [{ ...valid, key: 'other' }, 'key is "other"; use "triage", to match the location of the file'],
    [{ ...valid, tag: undefined }, 'tag is missing; use "stable", to match the location of the file'],
    [{ ...valid, section: {} }, 'section is not known; use version, ns, key, tag, ahead, sections, tools'],
    [{ ...valid, sections: [] }, 'sections is a list; use an object'],
    [{ ...valid, sections: { a: 'text' } }, 'sections.a is "text"; use an object'],
    [{ ...valid, sections: { a: {} } }, "sections.a.hash is missing; use the hash in the prompt's descriptor"],
    [{ ...valid, sections: { 'a.b': { hash: 'x', body: ['y'] } } }, 'sections["a.b"].body is a list; use a string'],
    [{ ...valid, sections: { a: { hash: 'x', summary: null } } }, 'sections.a.summary is null; use a string'],
    [
      { ...valid, sections: { a: { hash: 'x', body: 'Hi ${}' } } },
      'sections.a.body has a placeholder ${} without a name; name it, or write $${} for the literal text',
    ],
    [
      { ...valid, sections: { a: { hash: 'x', sumary: 'y' } } },
      'sections.a.sumary is not known; use hash, body, summary, visibility',
    ],
    [{ ...valid, ahead: { max: -1 } }, 'ahead.max is -1; use a number, 0 or more'],
    [{ ...valid, ahead: { fit: 1 } }, 'ahead.fit is not known; use max, budget, minFit'],
    [{ ...valid, tools: { t: { hash: 'x', core: 1 } } }, 'tools.t.core is 1; use true or false'],
    [{ ...valid, tools: 'x' }, 'tools is "x"; use an object'],
    [{ ...valid, tools: { t: { hash: 'x', description: {} } } }, 'tools.t.description is an object; use a string'],
    [{ ...valid, tools: { t: { hash: 'x', fields: { 'a.b': 1 } } } }, 'tools.t.fields["a.b"] is 1; use a string'],
  ])('R16 names the fault in %j', async (content, fault) => {
    put(JSON.stringify(content))
    await expect(store.resolve(prompt, { tag })).rejects.toThrow(
      `The override file '${path}' cannot be used. In it, ${fault}. Fix it by hand, or move it away to start over.`,
    )
  })

  it.each(['', '{', '{"version": 1,}', '\u{0}'])('R16 reports that %j is not JSON', async (content) => {
    put(content)
    await expect(store.resolve(prompt, { tag })).rejects.toThrow(
      `The override file '${path}' cannot be used. It is not JSON: `,
    )
  })

  it('R16 reports that invalid UTF-8 is not JSON, and accepts a byte order mark', async () => {
    put(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]))
    await expect(store.resolve(prompt, { tag })).rejects.toThrow('It is not JSON: ')
    put(`\u{feff}${JSON.stringify(valid)}`)
    expect(await store.resolve(prompt, { tag })).toEqual({ overrides: { sections: {}, tools: {} }, ignored: [] })
  })

  it('R16 names the file of an override that applies but cannot be rendered', async () => {
    put(file({ sections: { task: { hash: computeHash('task'), body: 'Hi ${usr}.' } } }))
    await expect(store.resolve(prompt, { tag })).rejects.toMatchObject({
      code: 'override-file',
      message: `The override file '${path}' cannot be used. Section 'task': its overridden template names \${usr}, which its params do not have. Its params are user. Write $\${ for a literal \${. Fix it by hand, or move it away to start over.`,
    })
    put(file({ sections: { task: { hash: computeHash('task'), visibility: 'summary' } } }))
    await expect(store.resolve(prompt, { tag })).rejects.toThrow(
      `The override file '${path}' cannot be used. Section 'task' cannot be folded by an override, because it has no summary`,
    )
    // Such an entry can be rewritten or removed.
    await store.upsert(prompt, { tag, section: { path: 'task', visibility: 'full' } })
    expect((await store.resolve(prompt, { tag }))!.ignored).toEqual([])
  })

  it('R16 accepts files without sections or tools, and names from Object.prototype', async () => {
    put('{"version":1,"ns":"agents/support","key":"triage","tag":"stable","tools":{"__proto__":{"hash":"x"}}}')
    expect((await store.resolve(prompt, { tag }))!.ignored.map(({ name, reason }) => [name, reason])).toEqual([
      ['__proto__', 'unknown'],
    ])
    await store.upsert(prompt, { tag, section: { path: 'task', body: 'T.' } })
    expect(text()).toContain('"__proto__": {\n      "hash": "x"\n    }')
  })

  it('R16 reports errors of the operating system', async () => {
    mkdirSync(path, { recursive: true })
    await expect(store.resolve(prompt, { tag })).rejects.toMatchObject({
      code: 'override-file',
      message: expect.stringMatching(/^The override file '.*stable\.json' could not be read: EISDIR/),
    })
    await expect(store.seed(prompt, { tag })).rejects.toThrow('could not be changed: EISDIR')
    writeFileSync(join(root, 'file'), '')
    const below = createOverrideStore({ root: join(root, 'file') })
    await expect(below.seed(prompt, { tag })).rejects.toMatchObject({ code: 'override-file' })
  })
})
