import { describe, expect, it } from 'vitest'
import { startCpuClock } from '../../../core/cpu.fixtures.ts'
import { createWordPieces } from './word-pieces.ts'

const VOCABULARY = '[CLS] [SEP] [UNK] un ##aff ##able cafe . # 日 本 hello ##s'.split(' ')
const pieces = createWordPieces(new Map(VOCABULARY.map((piece, id) => [piece, id])))
const read = (text: string, most = 256): readonly string[] => pieces.encode(text, most).map((id) => VOCABULARY[id]!)

describe('pieces of words', () => {
  it.each([
    ['unaffable', ['un', '##aff', '##able']],
    ['Hellos CAFÉ.', ['hello', '##s', 'cafe', '.']],
    ['unx hello', ['[UNK]', 'hello']],
    ['日本hello', ['日', '本', 'hello']],
    ['#hello#', ['#', 'hello', '#']],
    ['he\u0000llo\u200b', ['hello']],
    ['x'.repeat(200), ['[UNK]']],
    ['', []],
  ])('R61 are the longest that the model knows: %j', (text, expected) => {
    expect(read(text)).toEqual(['[CLS]', ...expected, '[SEP]'])
  })

  it('R61 are cut to what the model reads, in little time', () => {
    const getCpuMs = startCpuClock()
    for (const text of [
      'hello '.repeat(500_000),
      'z'.repeat(3_000_000),
      '.'.repeat(3_000_000),
      'é'.repeat(2_000_000),
    ]) {
      const read = pieces.encode(text, 16)
      expect(read.length).toBeLessThanOrEqual(16)
      expect(read.at(-1)).toBe(1)
    }
    expect(getCpuMs()).toBeLessThan(1_000)
  })
})
