import { describe, expect, it } from 'vitest'
import { joinParts, joinScore, weighSignals, type Signal } from './join.ts'
import { TUNING } from './tuning.ts'

const words: Signal = { kind: 'word-vectors', cosineAt: () => 0.5 }
const encoder: Signal = { kind: 'encoder', cosineAt: () => 0.5 }

function getWeights(signals: readonly Signal[], coverage: number, size: number): readonly number[] {
  return weighSignals(signals, coverage, size, TUNING).map(({ weight }) => weight)
}

describe('joining words and vectors', () => {
  it('R61 counts vectors less, the more of a text words cover and the more tools there are, with and without an encoder', () => {
    for (const signals of [[words], [words, encoder]]) {
      const [small] = getWeights(signals, 0.5, 100)
      expect(getWeights(signals, 0.9, 100)[0]).toBeLessThan(small!)
      expect(getWeights(signals, 0.5, 10_000)[0]).toBeLessThan(small!)
      expect(getWeights(signals, 0.5, 2)).toEqual(getWeights(signals, 0.5, 30))
    }
    expect(getWeights([words], 0.5, 10_000)[0]).toBeCloseTo(getWeights([words], 0.5, 100)[0]! / 2)
  })

  it('R61 counts an encoder no less among more than 5,000 tools', () => {
    const both = [words, encoder]
    expect(getWeights(both, 0.5, 50_000)).toEqual(getWeights(both, 0.5, 5_000))
    expect(getWeights([words], 0.5, 50_000)[0]).toBeLessThan(getWeights([words], 0.5, 5_000)[0]!)
  })

  it('R61 divides between word vectors and an encoder', () => {
    const [ofWords, ofEncoder] = getWeights([words, encoder], 1, 100)
    const { wordVectors } = TUNING.encoder
    expect(ofWords! / (ofWords! + ofEncoder!)).toBeCloseTo(wordVectors)
  })

  it('R61 ignores what points away', () => {
    const weighed = weighSignals([{ ...encoder, cosineAt: () => -0.5 }], 0, 100, TUNING)
    expect(joinScore(0.7, weighed, 0)).toBe(0.7)
  })

  it('R61 counts the part of a request that a tool is nearest to, beside the whole', () => {
    const cosines = [
      [0.5, 0.4],
      [0.1, 0.6],
      [0.2, -0.3],
    ].map((bySlot) => (slot: number) => bySlot[slot]!)
    const { part } = TUNING.encoder
    const { kind, cosineAt } = joinParts(cosines, TUNING)
    expect(kind).toBe('encoder')
    expect(cosineAt(0)).toBeCloseTo((1 - part) * 0.5 + part * 0.2)
    expect(cosineAt(1)).toBeCloseTo((1 - part) * 0.4 + part * 0.6)
    expect(joinParts(cosines.slice(0, 1), TUNING).cosineAt(1)).toBe(0.4)
  })
})
