import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePattern, type LinearPattern } from './pattern.ts'
import { startCpuClock } from '../cpu.fixtures.ts'

function compiled(source: string, ignoreCase = false): LinearPattern {
  const result = compilePattern(source, { ignoreCase })
  if ('problem' in result) throw new Error(`${source}: ${result.message}`)
  return result.pattern
}

/** The answer of JavaScript itself, in Unicode mode if the pattern allows it. */
function native(source: string, flags = ''): RegExp {
  try {
    return new RegExp(source, `u${flags}`)
  } catch {
    return new RegExp(source, flags)
  }
}

const sources = [
  '',
  'a',
  'a|b',
  'a||b',
  '(a|b)*c',
  '^a*$',
  '^(?:a|ab)(?:c|bcd)(?:d*)$',
  'a{2}',
  'a{2,}',
  '^a{2,3}$',
  'a{0}',
  '^a{0,2}?b$',
  '[]',
  '[^]',
  '[^a]',
  '[a-c]',
  '[\\]a]',
  '[\\w-]+',
  '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$',
  '\\d{4}-\\d{2}',
  '.',
  '^.$',
  '\\.',
  '\\/',
  '\\bfoo\\b',
  '\\Boo',
  '^\\b',
  '\\b$',
  '^$',
  '$^',
  'a$b',
  '(?=a)a',
  '(?!a)b',
  '(?<=a)b',
  '(?<!a)b',
  '^(?=.*[A-Z])(?=.*\\d).{4,}$',
  '^(?!.*--)[a-z-]+$',
  '(?<=(?<!b)a)b',
  '(?=(?=a)ab)a',
  '(?:(?=a))*b',
  '(?!(?!a))a',
  '^(?:(?!ab).)*$',
  '(?<name>a)+b',
  '(?<=^|b)a',
  '\\u0041',
  '\\x41',
  '\\u{1F600}',
  '\\ud83d\\ude00',
  '^\\p{L}+$',
  '\\P{L}',
  '\\cA',
  '\\t',
  '\\0',
  '😀',
  '^😀{2}$',
  '[😀-😂]',
  '^.😀',
  'a-b',
  '\\-',
  '[\\w-.]',
  '{',
  'a{',
  'a{,3}',
  ']',
  '}',
  '\\e',
  '(?:a|b|c|d)(?:a|b|c|d)',
  '(a*)*',
  '(a*)+b',
  '(?:){3}a',
  '(a?){3}b',
]
const texts = [
  '',
  'a',
  'b',
  'c',
  'ab',
  'ba',
  'aab',
  'abc',
  'abcd',
  'aaaa',
  'A1b2',
  'ABC1',
  'foo',
  'a foo b',
  'foobar',
  'food',
  '2024-05',
  'me@example.org',
  '\n',
  'a\nb',
  'a--b',
  'a-b',
  ' ',
  '\t',
  '\0',
  '😀',
  '😀😀',
  '\ud83d',
  '\ude00',
  'a😀',
  'ä',
  'ſ',
  'K',
  '{',
  'a{,3}',
  ']',
  '\x01',
]

describe('patterns in linear time', () => {
  it.each(sources)('/%s/ matches as in JavaScript', (source) => {
    for (const flags of ['', 'i']) {
      const pattern = compiled(source, flags === 'i')
      const expected = native(source, flags)
      for (const text of texts) expect([flags, text, pattern.test(text)]).toEqual([flags, text, expected.test(text)])
    }
  })

  it('generated patterns match as in JavaScript', () => {
    const atom = fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^b]', '\\w', '\\W', '\\b', '\\B', '^', '$', '😀', '\\d')
    const node = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        atom,
        fc.tuple(tie('pattern'), tie('pattern')).map((parts) => parts.join('')),
        fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
        fc
          .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{0,}', '*?'))
          .map(([a, many]) => `(?:${a})${many}`),
        fc.tuple(fc.constantFrom('?=', '?!', '?<=', '?<!', ''), tie('pattern')).map(([look, a]) => `(${look}${a})`),
      ),
    })).pattern
    // Only the basic plane: V8 looks for assertions in the middle of a surrogate pair, contrary to the standard.
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '1', '-', 'ä', '\n'), { maxLength: 7 })
    fc.assert(
      fc.property(node, fc.array(text, { minLength: 1, maxLength: 8 }), fc.boolean(), (source, inputs, ignoreCase) => {
        const result = compilePattern(source, { ignoreCase })
        if ('problem' in result) return
        const expected = native(source, ignoreCase ? 'i' : '')
        for (const input of inputs) {
          const joined = input.join('')
          expect([source, joined, result.pattern.test(joined)]).toEqual([source, joined, expected.test(joined)])
        }
      }),
      { numRuns: 1500 },
    )
  })

  it.each([
    ['(a+)+$', 'a'.repeat(50_000) + 'b'],
    ['^(a|a)*$', 'a'.repeat(50_000) + 'b'],
    ['^(a|aa)+$', 'a'.repeat(50_000) + 'b'],
    ['(.*)*(.*)*(.*)*x$', 'a'.repeat(50_000)],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(50_000)],
    ['(?=(a+)+$)b', 'a'.repeat(50_000)],
    ['(?<=^(a+)+)b', 'a'.repeat(50_000) + 'c'],
    ['\\s+$', ' '.repeat(50_000) + 'x'],
    ['(a?){200}a{200}$', 'a'.repeat(199)],
    [`${'(a|b)?'.repeat(300)}c`, 'ab'.repeat(2_000)],
  ])('%s ends quickly on texts that make other engines run forever', (source, text) => {
    const getCpuMs = startCpuClock()
    expect(compiled(source).test(text)).toBe(false)
    expect(getCpuMs()).toBeLessThan(3_000)
  })

  it('gives up if the product of pattern and text is too large', () => {
    expect(compiled('(.{1,3000}x)+y').test('ab'.repeat(100_000))).toBeUndefined()
  })

  it.each([
    ['(a)\\1', 'unsupported', 'refers back to a group'],
    ['(?<n>a)\\k<n>', 'unsupported', 'refers back to a group'],
    ['(?:a{1000}){1000}', 'unsupported', 'repeats too much'],
    ['(?:(?:(?:(?:){1000}){1000}){1000}){1000}', 'unsupported', 'repeats too much'],
    ['a{0,99999999999999999999999}', 'unsupported', 'repeats too much'],
    ['('.repeat(300) + 'a' + ')'.repeat(300), 'unsupported', 'is nested too deeply'],
    ['a'.repeat(10_001), 'unsupported', 'is longer than 10000 characters'],
    ['(?=a)'.repeat(21), 'unsupported', 'has too many lookarounds'],
    ['f(', 'invalid', 'Invalid regular expression: /f(/: Unterminated group'],
  ])('%s is rejected with a reason', (source, problem, message) => {
    expect(compilePattern(source)).toEqual({ problem, message })
  })

  it('keeps its memory within bounds on a text of many different characters', () => {
    const text = Array.from({ length: 60_000 }, (_, index) => String.fromCodePoint(0x4e00 + (index % 20_000))).join('')
    expect(compiled('(a|[^x])+y').test(text)).toBe(false)
  })
})
