import { createHash } from 'node:crypto'
import { gptTokenizer } from '../core/tokens/gpt-tokenizer.ts'
import { describe, expect, it } from 'vitest'
import { countResultTokens } from './tokens.ts'

const repeat = (text: string, length = 2_000): string => text.repeat(Math.ceil(length / text.length)).slice(0, length)

/** The same bytes in every run, in no order. */
const bytes = Buffer.concat(Array.from({ length: 50 }, (_, i) => createHash('sha256').update(String(i)).digest()))

const rows = Array.from({ length: 40 }, (_, id) => ({ id: id * 7_919, name: `Item ${id}`, price: id * 1.37, ok: true }))

const texts = {
  prose: repeat('The carrier picked up the parcel on Monday, and nobody has seen it since. '),
  'code with indentation': repeat('  if (isLarge(text)) {\n    return fold(text, limit)\n  }\n'),
  'minified JSON': JSON.stringify(rows),
  'indented JSON': JSON.stringify(rows, undefined, 4),
  'a padded table': repeat('north        12     true\nsouth         7     false\n'),
  base64: bytes.toString('base64'),
  'base64 for URLs': bytes.toString('base64url'),
  hexadecimal: bytes.toString('hex'),
  digits: repeat('3141592653589793'),
  Chinese: repeat('人工智能正在改变我们的生活方式，今天天气很好。'),
  Japanese: repeat('これはテストです。今日は天気がいいですね。'),
  Korean: repeat('안녕하세요 오늘 날씨가 좋네요. 인공지능이 세상을 바꾸고 있습니다. '),
  Thai: repeat('สวัสดีวันนี้อากาศดีมากและท้องฟ้าแจ่มใส'),
  Russian: repeat('Привет, как дела? Сегодня хорошая погода и солнце светит. '),
  emoji: repeat('😀🎉👍'),
  spaces: repeat(' '),
  newlines: repeat('\n'),
  tabs: repeat('\t'),
  'Windows line ends': repeat('\r\n'),
  'lines of one space': repeat(' \n'),
  'spaces and tabs': repeat(' \t'),
} as const

describe('R57 the size of a result', () => {
  it.each(Object.entries(texts))('is right for %s within a factor of 2.5', async (_, text) => {
    const count = countResultTokens
    const exact = (await gptTokenizer()).count(text)
    expect(count(text)).toBeGreaterThan(exact / 2.5)
    expect(count(text)).toBeLessThan(exact * 2.5)
  })

  const prose = repeat(texts.prose, 450_000)

  it.each([
    ['before', `${' '.repeat(20_000)}${prose}`],
    ['after', `${prose}${'\n'.repeat(20_000)}`],
    ['on both sides of', `${'\n'.repeat(100_000)}${prose}${'\t'.repeat(100_000)}`],
  ])('does not depend on whitespace %s it', async (_, padded) => {
    const count = countResultTokens
    expect(count(padded)).toBeGreaterThan(count(prose) * 0.8)
    expect(count(padded)).toBeLessThan(count(prose) * 1.3)
  })

  it('is not nothing for much whitespace', async () => {
    const count = countResultTokens
    expect(count(' '.repeat(10_000_000))).toBeGreaterThan(50_000)
    expect(count(' \n'.repeat(1_000_000))).toBeGreaterThan(200_000)
  })
})
