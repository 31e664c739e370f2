import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { fillTemplate, md, parseTemplate, toTemplateSource, type PlaceholderNames, type Template } from './template.ts'
import { startCpuClock } from './cpu.fixtures.ts'

const fill = (source: string | Template, values: Record<string, unknown>): string =>
  fillTemplate(parseTemplate(source), values, 'x')

// One table for both scanners: the compiler's and the runtime's must agree.
const cases = {
  'no placeholder': [],
  '${a}': ['a'],
  'x ${a} y ${b} z ${a}': ['a', 'b', 'a'],
  'escaped $${a}': [],
  '$${a ${b}}': ['b'],
  '$$${a}': [],
  '$$${a} ${b}': ['b'],
  'price $5 and ${a}': ['a'],
  $: [],
  'ends in $${': [],
  'unclosed ${a': [],
  '{a} $a ${b}': ['b'],
  'json {"k": "${v}"}': ['v'],
  '${a}${b}$${c}${d}': ['a', 'b', 'd'],
  '${a b} ${c-d}': ['a b', 'c-d'],
} as const satisfies Record<string, readonly string[]>

describe('R4 placeholders', () => {
  for (const [source, names] of Object.entries(cases)) {
    it(`R4 finds [${names.join(', ')}] in ${JSON.stringify(source)}`, () =>
      expect(parseTemplate(source).names).toEqual(names))
  }

  it('R4 the compiler finds the same names', () => {
    type Found = { [T in keyof typeof cases]: PlaceholderNames<T> }
    type Expected = { [T in keyof typeof cases]: (typeof cases)[T][number] }
    expectTypeOf<Found>().toEqualTypeOf<Expected>()
  })

  it('R4 `$${` is a literal `${` and any other `$` is literal', () => {
    expect(fill('$${a} costs $5, ${a} costs $${', { a: 'x' })).toBe('${a} costs $5, x costs ${')
    expect(fill('$ $$ $a $$$${a}', { a: 'x' })).toBe('$ $$ $a $$${a}')
  })

  it('R4 inserts values once and verbatim', () => {
    expect(fill('${a} ${b}', { a: '${b} $${c} $& $1', b: 'x' })).toBe('${b} $${c} $& $1 x')
  })

  it('R4 prints numbers, booleans and bigints', () => {
    expect(fill('${a} ${b} ${c}', { a: 1.5, b: false, c: 10n })).toBe('1.5 false 10')
  })

  it('R4 rejects a placeholder without a name', () => {
    expect(() => parseTemplate('x ${}')).toThrow('A template contains the placeholder ${} without a name.')
  })

  it('R4 renders any mix of literals and values as written', () => {
    const literal = fc.string({ unit: fc.constantFrom('a', '$', '{', '}', ' ', 'é', '"') })
    fc.assert(
      fc.property(fc.array(fc.tuple(literal, fc.constantFrom('x', 'y')), { maxLength: 5 }), literal, (pairs, last) => {
        // A literal `$` before a placeholder has no string form; md has one.
        const source =
          pairs.map(([text, name]) => `|${text}|`.replaceAll('${', () => '$${') + `\${${name}}`).join('') +
          `|${last}|`.replaceAll('${', () => '$${')
        const expected = pairs.map(([text, name]) => `|${text}|${{ x: '${y}', y: '$' }[name]}`).join('') + `|${last}|`
        expect(fill(source, { x: '${y}', y: '$' })).toBe(expected)
        expect(toTemplateSource(parseTemplate(source))).toBe(source)
      }),
    )
  })
})

describe('R4 indentation', () => {
  it('R4 is removed if all lines share it, and the edges are trimmed', () => {
    const source = `

      Hello \${who},
        indented

      end
    `
    expect(fill(source, { who: 'you' })).toBe('Hello you,\n  indented\n\nend')
  })

  it('R4 inside a value is kept', () => {
    expect(fill('\n    a\n    ${block}\n  ', { block: '      deep\n    less\n' })).toBe('a\n      deep\n    less\n')
  })

  it('R4 counts on a line that begins with a placeholder', () => {
    expect(fill('\n      a\n    ${x}\n', { x: 'b' })).toBe('a\nb')
  })

  it('R4 leaves a blank template empty', () => {
    expect(fill(' \n\t\n ', {})).toBe('')
  })
})

describe('md', () => {
  it('R4 knows its names, dedents, and inserts values once', () => {
    const template = md`
      Hello ${'who'},
        indented ${'what'}
    `
    expectTypeOf(template).toEqualTypeOf<Template<'who' | 'what'>>()
    expect(fill(template, { who: 'you', what: '${who}' })).toBe('Hello you,\n  indented ${who}')
  })

  it('R4 accepts a literal `${` and a dollar sign before a placeholder', () => {
    expect(fill(md`a \${b} costs $${'price'}`, { price: 5 })).toBe('a ${b} costs $5')
  })

  it('R16 has a string form unless a dollar sign precedes a placeholder', () => {
    expect(toTemplateSource(md`a \${b} ${'c'}`)).toBe('a $${b} ${c}')
    expect(toTemplateSource(md`$${'c'}`)).toBeUndefined()
  })
})

describe('long templates', () => {
  it('R4 can have 900 placeholders and 500 kB', () => {
    const many = Array.from({ length: 900 }, (_, i) => `\${p${i}}`).join(' ')
    expect(parseTemplate(many).names).toHaveLength(900)
    const long = `${'x'.repeat(999)}\n`.repeat(500)
    expect(fill(`${long}\${a}`, { a: 'end' })).toBe(`${long}end`)
  })
})

describe('a template of any length', () => {
  const timed = (work: () => void): number => {
    const getCpuMs = startCpuClock()
    work()
    return getCpuMs()
  }

  it.each([
    { case: 'placeholders that never end', text: (n: number) => '${'.repeat(n) },
    { case: 'placeholders of which the last ends', text: (n: number) => `${'${'.repeat(n)}}` },
    { case: 'escapes', text: (n: number) => '$${'.repeat(n) },
    { case: 'dollar signs', text: (n: number) => '$'.repeat(n) },
    { case: 'placeholders', text: (n: number) => '${a}'.repeat(n) },
    { case: 'blanks between words', text: (n: number) => `a${' '.repeat(n)}b` },
    { case: 'blank lines between words', text: (n: number) => `  a${'\n \t'.repeat(n)}  b` },
    { case: 'blanks around a placeholder', text: (n: number) => `${' '.repeat(n)}\${a}${' '.repeat(n)}b` },
    { case: 'other white space', text: (n: number) => `a${'\u00a0\u2003'.repeat(n)}b` },
  ])('R4 is read in linear time: $case', ({ text }) => {
    const long = text(500_000)
    expect(timed(() => parseTemplate(long))).toBeLessThan(2_000)
  })

  it.each([
    ['${', ['${'], []],
    ['a ${b', ['a ${b'], []],
    ['${${a}b', ['', 'b'], ['${a']],
    ['$$${a}', ['$${a}'], []],
    ['$${${a}', ['${', ''], ['a']],
    ['${a}$${b}${c}', ['', '${b}', ''], ['a', 'c']],
    ['${a}${b', ['', '${b'], ['a']],
    ['${a\nb}', ['', ''], ['a\nb']],
  ])('R4 reads %j', (text, literals, names) => {
    expect(parseTemplate(text)).toEqual({ literals, names })
  })
})
