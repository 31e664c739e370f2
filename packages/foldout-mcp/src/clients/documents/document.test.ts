import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Format } from './format.ts'
import { applyChange, applyChanges, getEntries, loadFormat } from './document.ts'
import { anyName, createText, type TextOptions } from './texts.fixtures.ts'

const KINDS: readonly TextOptions[] = [
  { format: 'json', path: ['mcpServers'] },
  { format: 'json', path: ['mcp', 'servers'] },
  { format: 'yaml', path: ['extensions'] },
  { format: 'yaml', path: ['mcpServers'], isList: true },
  { format: 'toml', path: ['mcp_servers'] },
]

const ENTRY = { command: 'npx', args: ['-y', 'foldout-mcp@1.2.3', 'serve', '--config', '/home/a "b"/c.json'] }

/** The comments in generated texts. */
function listComments(text: string): readonly string[] {
  return Array.from(text.matchAll(/\/\/ c|\/\* d \*\/|# c|# flow|# end|\/\/ end/g), ([comment]) => comment).sort()
}

describe.each(KINDS)('R52: editing $format at $path, as a list: $isList', ({ format: kind, path, isList = false }) => {
  const texts = createText({ format: kind, path, isList })
  const toValue = (name: string): unknown => (isList ? { name, ...ENTRY } : ENTRY)

  it('adds an entry under any name, and keeps everything else', async () => {
    const format = await loadFormat(kind)
    fc.assert(
      fc.property(texts, anyName, (text, name) => {
        const before = getEntries(format.parse(text), path, isList)
        const after = applyChange(format, text, { path, isList, name, value: toValue(name) })
        const entries = getEntries(format.parse(after), path, isList)
        expect(entries?.get(name)).toEqual(toValue(name))
        expect(entries?.size).toBe((before?.size ?? 0) + (before?.has(name) ? 0 : 1))
        // The replaced entry may have its own comments.
        fc.pre(!before?.has(name))
        expect(listComments(after)).toEqual(listComments(text))
      }),
    )
  })

  it('removes that entry, and every other one', async () => {
    const format = await loadFormat(kind)
    fc.assert(
      fc.property(texts, (text) => {
        const added = applyChange(format, text, { path, isList, name: 'foldout', value: toValue('foldout') })
        const names = [...(getEntries(format.parse(added), path, isList)?.keys() ?? [])]
        const rest = names.reduce(
          (next, name) => applyChange(format, next, { path, isList, name, value: undefined }),
          added,
        )
        expect(getEntries(format.parse(rest), path, isList)?.size ?? 0).toBe(0)
      }),
    )
  })
})

describe.each(KINDS)('R52: several changes in $format at $path, as a list: $isList', (kind) => {
  const { format: name, path, isList = false } = kind
  const toValue = (key: string): unknown => (isList ? { name: key, ...ENTRY } : ENTRY)

  it('are made together, and keep everything else', async () => {
    const format = await loadFormat(name)
    fc.assert(
      fc.property(createText(kind), fc.array(fc.boolean()), (text, choices) => {
        const before = getEntries(format.parse(text), path, isList) ?? new Map<string, unknown>()
        const cut = [...before.keys()].filter((_, i) => choices[i] !== false)
        const added = ['foldout', 'other'].filter((key) => !before.has(key))
        const changes = [
          ...added.map((key) => ({ name: key, value: toValue(key) })),
          ...cut.map((key) => ({ name: key, value: undefined })),
        ]
        const after = applyChanges(format, text, { path, isList }, changes)
        const entries = getEntries(format.parse(after), path, isList) ?? new Map<string, unknown>()
        const kept = [...before.keys()].filter((key) => !cut.includes(key))
        expect([...entries.keys()].toSorted()).toEqual([...kept, ...added].toSorted())
      }),
    )
  })
})

describe('R52: many changes in JSON', () => {
  const path = ['mcpServers']
  const NAMES = ['a', 'b', 'c']
  const change = async (text: string, cut: readonly string[], ...added: readonly string[]): Promise<string> =>
    applyChanges(await loadFormat('json'), text, { path }, [
      ...added.map((name) => ({ name, value: 2 })),
      ...cut.map((name) => ({ name, value: undefined })),
    ])

  it.each([
    ['{"mcpServers": {"a": 1, "b": 1, "c": 1}}', ['a', 'c'], '{"mcpServers": { "b": 1 }}'],
    ['{"mcpServers": {"a": 1, "b": 1, "c": 1}}', NAMES, '{"mcpServers": {}}'],
    [
      '{\n  "mcpServers": {\n    "a": 1,\n    "b": 1,\n    "c": 1\n  }\n}\n',
      ['b', 'c'],
      '{\n  "mcpServers": {\n    "a": 1\n  }\n}\n',
    ],
    [
      '{\n  "mcpServers": {\n    "a": 1,\n    "b": 1,\n    "c": 1,\n  }\n}\n',
      ['a', 'c'],
      '{\n  "mcpServers": {\n    "b": 1,\n  }\n}\n',
    ],
    [
      '{\n  "mcpServers": {\n    "a": 1, // one\n    "b": 1\n  }\n}\n',
      ['a', 'b'],
      '{\n  "mcpServers": {\n     // one\n  }\n}\n',
    ],
  ])('cut %j without %j', async (text, cut, expected) => {
    expect(await change(text, cut)).toBe(expected)
  })

  it('add in the style of the text', async () => {
    expect(await change('{"mcpServers": {"a": 1}}', [], 'x', 'y')).toBe('{"mcpServers": {"a": 1, "x": 2, "y": 2}}')
    expect(await change('{}', [], 'x', 'y')).toBe('{\n  "mcpServers": {\n    "x": 2,\n    "y": 2\n  }\n}')
    expect(await change('{\n  "mcpServers": {\n    "a": 1\n  }\n}', ['a'], 'x', 'y')).toBe(
      '{\n  "mcpServers": {\n    "x": 2,\n    "y": 2\n  }\n}',
    )
  })

  it('cost about as much as the text is long', async () => {
    const format = await loadFormat('json')
    const measure = (count: number): number => {
      const servers = Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`s${i}`, { command: 'x', args: [i] }]),
      )
      const entries = Object.entries(servers).map(([name, value]) => ({ name, value }))
      const times = Array.from({ length: 3 }, () => {
        const start = process.cpuUsage()
        const text = applyChanges(format, '{}', { path }, entries)
        applyChanges(
          format,
          text,
          { path },
          entries.map(({ name }) => ({ name, value: undefined })),
        )
        return process.cpuUsage(start).user
      })
      return Math.max(1, Math.min(...times))
    }
    measure(2_000)
    // One change after the other would take 1,600 times as long.
    expect(measure(2_000) / measure(50)).toBeLessThan(400)
  })
})

describe('R52: texts that are not edited', () => {
  const edit = (format: Format, text: string, path: readonly string[]): string =>
    applyChange(format, text, { path, name: 'foldout', value: ENTRY })

  it.each([
    ['json', '{"mcpServers": {', /not valid JSON: close brace expected in line 1/],
    ['json', '{"mcpServers": []}', /not an object/],
    ['json', '[]', /not an object/],
    ['json', '{"mcpServers": {}, "mcpServers": {}}', /cannot be edited safely/],
    ['yaml', 'a: [', /not valid YAML/],
    ['yaml', 'a: 1\na: 2\n', /not valid YAML/],
    [
      'yaml',
      'a: 1\n---\nb: 2\n',
      /not valid YAML for a client: it has several documents, separated by ---\. Keep only one$/,
    ],
    ['yaml', 'mcpServers: 7', /not an object/],
    ['toml', 'a = ', /not valid TOML/],
    ['toml', 'mcpServers = { a = { command = "b" } }\n', /cannot be edited safely/],
  ] as const)('%s: %s', async (kind, text, message) => {
    const format = await loadFormat(kind)
    expect(() => edit(format, text, ['mcpServers'])).toThrow(message)
  })

  it.each(['json', 'yaml', 'toml'] as const)('%s: nested 100,000 deep', async (kind) => {
    const format = await loadFormat(kind)
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const text = { json: `{"a": ${deep}}`, yaml: `a: ${deep}`, toml: `a = ${deep}` }[kind]
    expect(() => edit(format, text, ['mcpServers'])).toThrow(kind === 'toml' ? 'not valid TOML' : 'nested too deeply')
  })

  it.each([
    ['toml', '[mcpServers]\nb = { command = "b" }\n', 'Write it as a table of its own, [mcpServers.b], then try again'],
    ['yaml', 'x: &x { command: b }\nmcpServers: { b: *x, c: &c { command: c }, d: *c }\n', 'without anchors, aliases'],
  ] as const)('%s: names the entry, and says what to write instead: %j', async (kind, text, advice) => {
    const format = await loadFormat(kind)
    const cut = ['b', 'c'].map((name) => ({ name, value: undefined }))
    const change = (): string => applyChanges(format, text, { path: ['mcpServers'] }, cut)
    expect(change).toThrow(/its entry "[bc]" in "mcpServers" is written in a way that cannot be edited safely\. /)
    expect(change).toThrow(advice)
  })
})

describe('R52: empty places that are filled', () => {
  it.each([
    ['json', '{"mcpServers": null}'],
    ['json', '{}'],
    ['json', 'null'],
    ['yaml', '{}'],
    ['yaml', '# mine\n{} # empty\n'],
    ['yaml', '---\n{}\n'],
    ['yaml', '~'],
    ['yaml', 'null\n'],
    ['yaml', 'mcpServers: ~'],
    ['yaml', 'mcpServers: null # none yet\na: 1\n'],
    ['yaml', 'mcpServers:\n  ~\na: 1\n'],
    ['yaml', 'mcpServers:\na: 1\n'],
    ['yaml', '{mcpServers: ~, a: 1}'],
    ['yaml', '{a: 1}\n'],
    ['toml', 'mcpServers = {} # none yet\na = 1\n'],
  ] as const)('%s: %j', async (kind, text) => {
    const format = await loadFormat(kind)
    for (const isList of kind === 'yaml' ? [false, true] : [false]) {
      const value = { ...ENTRY, name: 'foldout' }
      const after = applyChange(format, text, { path: ['mcpServers'], isList, name: 'foldout', value })
      const entries = isList ? [value] : { foldout: value }
      expect(format.parse(after)).toEqual({
        ...(text.includes('a: 1') || text.includes('a = 1') ? { a: 1 } : {}),
        mcpServers: entries,
      })
      expect(/#.*/.exec(after)?.[0]).toBe(/#.*/.exec(text)?.[0])
      expect(
        getEntries(
          format.parse(applyChange(format, after, { path: ['mcpServers'], isList, name: 'foldout', value: undefined })),
          ['mcpServers'],
        )?.size ?? 0,
      ).toBe(0)
    }
  })
})

describe('R52: TOML with tables in its texts', () => {
  const text = (count: number): string => `[mcp_servers.a]\nx = '''\n${'[b]\n'.repeat(count)}'''\n[c]\n`

  it('is edited if there are a few, and left alone if checking them would take long', async () => {
    const format = await loadFormat('toml')
    const change = { path: ['mcp_servers'], name: 'a', value: undefined }
    expect(applyChange(format, text(20), change)).toBe('[c]\n')
    expect(() => applyChange(format, text(10_000), change)).toThrow('cannot be edited safely')
  })
})

describe('R52: how an entry is written', () => {
  it('in JSON, in the style of the file', async () => {
    const format = await loadFormat('json')
    const text = '{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"a": {"command": "b"} // last\r\n\t}\r\n}\r\n'
    const value = { command: 'npx' }
    expect(applyChange(format, text, { path: ['mcpServers'], name: 'foldout', value })).toBe(
      '{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"a": {"command": "b"}, // last\r\n\t\t"foldout": {\r\n\t\t\t"command": "npx"\r\n\t\t}\r\n\t}\r\n}\r\n',
    )
  })

  it('in YAML, above the first one and its comment', async () => {
    const format = await loadFormat('yaml')
    const text = 'extensions:\n    # built in\n    developer:\n        type: builtin # kept\nGOOSE_MODEL: x\n'
    const value = { cmd: 'npx' }
    expect(applyChange(format, text, { path: ['extensions'], name: 'foldout', value })).toBe(
      'extensions:\n    foldout:\n        cmd: npx\n    # built in\n    developer:\n        type: builtin # kept\nGOOSE_MODEL: x\n',
    )
  })

  it('in YAML, without an empty line where the file was empty', async () => {
    const format = await loadFormat('yaml')
    expect(applyChange(format, '{}\n', { path: ['extensions'], name: 'foldout', value: { cmd: 'npx' } })).toBe(
      'extensions:\n  foldout:\n    cmd: npx\n',
    )
  })

  it('in YAML, in place of the old one', async () => {
    const format = await loadFormat('yaml')
    const text = '# c\nextensions:\n    # c\n    ä 東:\n        cmd: x\n# c\n# end'
    expect(applyChange(format, text, { path: ['extensions'], name: 'ä 東', value: { cmd: 'npx' } })).toBe(
      '# c\nextensions:\n    ä 東:\n        cmd: npx\n    # c\n# c\n# end',
    )
  })

  it('in TOML, as a block at the end', async () => {
    const format = await loadFormat('toml')
    const text = 'model = "x" # mine\n'
    const value = { command: 'npx' }
    expect(applyChange(format, text, { path: ['mcp_servers'], name: 'a.b', value })).toBe(
      'model = "x" # mine\n\n[mcp_servers."a.b"]\ncommand = "npx"\n',
    )
  })
})
