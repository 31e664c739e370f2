import { describe, expect, it } from 'vitest'
import {
  chooseLayout,
  createStyler,
  formatBar,
  formatTable,
  shorten,
  toLine,
  toLines,
  wrap,
  wrapWhole,
} from './text.ts'

describe("servers' text", () => {
  it.each([
    ['\u001B[31mred\u001B[0m', 'red'],
    ['\u001B]0;title\u0007on\u001B', 'on'],
    ['a\r\nb\tc', 'a b c'],
    ['safe\u202Egnp.exe', 'safe gnp.exe'],
    ['zero\u200Bwidth\u{E0041}', 'zero width'],
    ['a\u009B2J', 'a'],
    ['Zürich 東京 👩‍👩‍👧', 'Zürich 東京 👩 👩 👧'],
  ])('%j cannot control a terminal', (text, line) => {
    expect(toLine(text)).toBe(line)
  })

  it('is split into lines, without empty ones', () => {
    expect(toLines('a\r\n\n \u001B \nb')).toEqual(['a', 'b'])
  })
})

describe('tables', () => {
  const rows = [
    ['a', 'a long description of many words'],
    ['bbb', 'short'],
  ]
  it('align their columns', () => {
    expect(formatTable(rows)).toEqual(['a    a long description of many words', 'bbb  short'])
  })
  it('are cut to the width of a terminal', () => {
    expect(formatTable(rows, 26)).toEqual(['a    a long description o…', 'bbb  short'])
  })
  it('may be empty', () => {
    expect(formatTable([])).toEqual([])
  })
  it('are shortened at the end', () => {
    expect(shorten('abc', 3)).toBe('abc')
    expect(shorten('abcd', 3)).toBe('ab…')
  })
})

describe('a narrow terminal', () => {
  it.each([
    ['one two three', 8, '', ['one two', 'three']],
    ['one two three', 13, '', ['one two three']],
    ['one two three', 9, '  ', ['  one two', '  three']],
    ['a-very-long-word b', 6, '', ['a-ver…', 'b']],
    ['', 6, '', ['']],
  ])('breaks %j after %d columns', (text, width, indent, lines) => {
    expect(wrap(text, width, indent)).toEqual(lines)
  })

  it('keeps a word whole that people may need, such as a path', () => {
    expect(wrapWhole('see a-very-long-word b', 6, ' ')).toEqual([' see', ' a-very-long-word', ' b'])
    expect(wrapWhole('one two')).toEqual(['one two'])
  })

  it('gets the first layout that fits, or the last one, cut', () => {
    const layouts = [() => ['a long line'], () => ['a line', 'b']]
    expect(chooseLayout(Infinity, layouts)).toEqual(['a long line'])
    expect(chooseLayout(6, layouts)).toEqual(['a line', 'b'])
    expect(chooseLayout(4, layouts)).toEqual(['a l…', 'b'])
  })
})

describe('colors', () => {
  it.each([
    [{ isTTY: true }, {}, true],
    [{ isTTY: true }, { NO_COLOR: '1' }, false],
    [{ isTTY: true }, { TERM: 'dumb' }, false],
    [{}, {}, false],
  ])('on %j with %j: %s', (stream, env, isColored) => {
    expect(createStyler(stream, env)('red', 'x') !== 'x').toBe(isColored)
  })
})

describe('bars', () => {
  it.each([
    [0, '    '],
    [0.0001, '▏   '],
    [0.5, '██  '],
    [0.53, '██▏ '],
    [1, '████'],
    [7, '████'],
    [Number.NaN, '    '],
  ])('for %d', (share, bar) => {
    expect(formatBar(share, 4)).toBe(bar)
  })
})
