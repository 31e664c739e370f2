import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { META_TOOL_NAMES, createNameTable, getQualifiedName, listModelNames } from './names.ts'

type Identity = readonly [source: string | undefined, declared: string]

function getNames(tools: readonly Identity[]): Readonly<Record<string, string>> {
  const table = createNameTable()
  for (const [source, declared] of tools) table.add(source, declared)
  return seenIn(table, tools)
}

function seenIn(table: ReturnType<typeof createNameTable>, tools: readonly Identity[]): Record<string, string> {
  return Object.fromEntries(
    tools.map(([source, declared]) => {
      const qualified = getQualifiedName(source, declared)
      return [qualified, table.getName(qualified)]
    }),
  )
}

// Few words, so names often collide; separators, foreign scripts and reserved words are among them.
const word = fc.constantFrom(
  'a',
  'b',
  'x',
  'X',
  'tool',
  'é',
  '天气',
  '预报',
  'search_tools',
  'use_tool',
  'n'.repeat(40),
)
const declared = fc
  .oneof(
    fc.array(fc.oneof(word, fc.constantFrom('_', '__', '/', '.', '-', ' ', '~')), { minLength: 1, maxLength: 5 }),
    fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 1 }),
  )
  .map((parts) => parts.join(''))
const source = fc.option(fc.oneof(word, fc.constantFrom('a/b', 'a__b', 's'.repeat(70))), { nil: undefined })
// Names that compete for the same form.
const crowd = fc.tuple(
  fc.constantFrom('a', 'a b', 'a_b', 'a__x', undefined),
  fc.constantFrom('x', 'a__x', 'a_b__x', 'x__x', 'tool__x'),
)
const identities: fc.Arbitrary<readonly Identity[]> = fc.uniqueArray(fc.oneof(crowd, fc.tuple(source, declared)), {
  maxLength: 12,
  selector: ([from, name]) => getQualifiedName(from, name),
})

describe('R43 names', () => {
  it('R43 R56 are among those that a tool may have', () => {
    fc.assert(
      fc.property(identities, (tools) => {
        const names = getNames(tools)
        for (const [from, name] of tools)
          expect(listModelNames(from, name)).toContain(names[getQualifiedName(from, name)])
      }),
    )
  })

  it('R43 are the declared ones if these are unique and valid', () => {
    expect(
      getNames([
        ['git', 'commit'],
        ['mail', '_send-2'],
        [undefined, 'now'],
      ]),
    ).toEqual({
      'git/commit': 'commit',
      'mail/_send-2': '_send-2',
      now: 'now',
    })
  })

  it('R43 begin with the source if two sources share one', () => {
    expect(
      getNames([
        ['git', 'search'],
        ['mail', 'search'],
        [undefined, 'search'],
        ['mail', 'send'],
      ]),
    ).toEqual({
      'git/search': 'git__search',
      'mail/search': 'mail__search',
      search: 'tool__search',
      'mail/send': 'send',
    })
  })

  it('R43 yield to a tool that is declared with the longer name', () => {
    expect(
      getNames([
        ['git', 'search'],
        ['mail', 'search'],
        ['x', 'git__search'],
      ]),
    ).toEqual({
      'git/search': 'git__search__d35b109c',
      'mail/search': 'mail__search',
      'x/git__search': 'git__search',
    })
  })

  it('R43 keep what the tool does if they exceed 64 characters, and end in a hash', () => {
    const long = 'list_all_repository_collaborators_with_permissions'
    expect(
      getNames([
        ['enterprise-github', long],
        ['community-github', long],
        ['x', 'y'.repeat(80)],
      ]),
    ).toEqual({
      [`enterprise-github/${long}`]: `en__${long}__74e3aba2`,
      [`community-github/${long}`]: `co__${long}__e667ab67`,
      [`x/${'y'.repeat(80)}`]: `${'y'.repeat(54)}__e08f248d`,
    })
  })

  it('R43 stay distinct in other scripts and with characters that providers reject', () => {
    const names = getNames([
      ['w', '天气预报'],
      ['w', '天气'],
      ['w', 'Über uns!'],
      ['w', 'a.b'],
      ['w', '***'],
      ['w', 'route GET /ai.one'],
    ])
    expect(Object.values(names)).toEqual([
      'tool_e2d89f9d',
      'tool_4d947325',
      'Uber_uns',
      'a_b',
      'tool_596f4162',
      'route_GET_ai_one',
    ])
  })

  it('R43 are never those of a meta tool', () => {
    for (const name of META_TOOL_NAMES) expect(getNames([['x', name]])).toEqual({ [`x/${name}`]: `x__${name}` })
  })

  it('R43 cannot be claimed by another tool if they have a hash', () => {
    const tools: Identity[] = [
      ['s', 'a.b'],
      ['s', 'a_b'],
    ]
    const taken = getNames(tools)['s/a.b']!
    const names = getNames([...tools, ['evil', taken]])
    expect(names['s/a.b']).toBe(taken)
    expect(names[`evil/${taken}`]).not.toBe(taken)
  })

  it('R43 distinguish sources and names with slashes if they are qualified', () => {
    const same: Identity[] = [
      ['a', 'b/c'],
      ['a/b', 'c'],
      [undefined, 'a/b/c'],
      ['a', 'b~1c'],
    ]
    expect(same.map(([from, name]) => getQualifiedName(from, name))).toEqual(['a/b~1c', 'a/b/c', 'a~1b~1c', 'a/b~01c'])
  })

  it('R43 are unique and fit every provider', () => {
    fc.assert(
      fc.property(identities, (tools) => {
        const names = Object.values(getNames(tools))
        expect(new Set(names).size).toBe(tools.length)
        for (const name of names) {
          expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
          expect(META_TOOL_NAMES).not.toContain(name)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('R43 R49 depend neither on the order of the tools nor on removed ones', () => {
    fc.assert(
      fc.property(identities, identities, fc.func(fc.integer()), (tools, others, order) => {
        const staying = new Set(tools.map(([from, name]) => getQualifiedName(from, name)))
        const leaving = others.filter(([from, name]) => !staying.has(getQualifiedName(from, name)))
        const table = createNameTable()
        const shuffled = [...tools, ...leaving].sort((one, other) => order(one) - order(other))
        const seen = new Map<string, string>()
        const apply = (touched: readonly string[]): void => {
          for (const qualified of touched) seen.set(qualified, table.getName(qualified))
        }
        for (const [from, name] of shuffled) apply(table.add(from, name))
        for (const [from, name] of leaving) {
          apply(table.remove(getQualifiedName(from, name)))
          seen.delete(getQualifiedName(from, name))
        }
        expect(seenIn(table, tools)).toEqual(getNames(tools))
        // And tools that were not reported as changed keep their names.
        expect(Object.fromEntries(seen)).toEqual(getNames(tools))
      }),
      { numRuns: 300 },
    )
  })

  it('R43 take linear time if many tools share one', () => {
    const table = createNameTable()
    const touched = Array.from({ length: 1_000 }, (_, at) => table.add(`s${at}`, 'search').length)
    expect(touched.slice(0, 4)).toEqual([1, 2, 1, 1])
    expect(Math.max(...touched.slice(2))).toBe(1)
  })
})
