import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getStem, getTerms, getWords } from './words.ts'

describe('words', () => {
  it.each([
    ['getWeatherV2', ['get', 'weather', 'v', '2']],
    ['XMLHttpRequest', ['xml', 'http', 'request']],
    ['list_all-files/now', ['list', 'all', 'files', 'now']],
    ['GitHub', ['git', 'hub', 'github']],
    ['iPhone PDFs', ['iphone', 'pdfs']],
    ['base64', ['base', '64']],
    ["I'd like the café's menu", ['i', 'like', 'the', 'cafe', 's', 'menu']],
    ['天気予報', ['天気', '気予', '予報']],
    ['hello世界wide', ['hello', '世界', 'wide']],
    ['날씨 알려줘', ['날씨', '알려', '려줘']],
    ['नमस्ते दुनिया', ['नमस्ते', 'दुनिया']],
    ['Ｆｕｌｌ ﬁle', ['full', 'file']],
    ['—…!', []],
  ])('R45 splits %s', (text, words) => {
    expect(getWords(text)).toEqual(words)
  })

  it('R45 splits ASCII as other scripts with cases and digits are split', () => {
    const toCyrillic = (text: string): string =>
      text.replaceAll('a', 'а').replaceAll('b', 'б').replaceAll('A', 'А').replaceAll('B', 'Б')
    fc.assert(
      fc.property(fc.stringMatching(/^[abAB17]{1,12}$/), (run) => {
        expect(getWords(run).map(toCyrillic)).toEqual(getWords(toCyrillic(run)))
      }),
      { numRuns: 1_000 },
    )
  })

  it('R45 leaves out what does not tell what a request is about, and stems the rest', () => {
    expect(getTerms('Could you please show me the weather forecasts?')).toEqual(['show', 'weather', 'forecast'])
  })

  it('R45 stems English words only', () => {
    expect(['booking', 'flights', 'is', '天気', 'größe'].map(getStem)).toEqual([
      'book',
      'flight',
      'is',
      '天気',
      'größe',
    ])
  })

  it('R45 gives the same words again, whatever came between', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
        expect(texts.map(getTerms)).toEqual(texts.map(getTerms))
      }),
    )
  })

  it('R45 splits identifiers of a kind alike', () => {
    const word = fc.stringMatching(/^[a-z]{3,8}$/)
    fc.assert(
      fc.property(fc.array(word, { minLength: 3, maxLength: 5 }), (words) => {
        const camel = words.map((word, i) => (i === 0 ? word : word[0]!.toUpperCase() + word.slice(1))).join('')
        expect(getWords(camel)).toEqual(words)
        expect(getWords(words.join('_'))).toEqual(words)
        expect(getWords(words.join('-').toUpperCase())).toEqual(words)
      }),
    )
  })
})
