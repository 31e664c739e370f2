import { describe, expect, it } from 'vitest'
import { definePrompt, defineSection, estimatedTokens } from '../../entries/index.ts'
import { gptTokenizer } from '../../entries/gpt-tokenizer.ts'

const prose =
  'Progressive disclosure shows a model the table of contents of its prompt and lets it open what it needs. Sections carry tools, and tools carry schemas; neither is paid for before it is wanted.'

describe('R41 exact counts', () => {
  it('R41 counts like the tokenizer of the encoding, and says so', async () => {
    const counter = await gptTokenizer()
    expect(counter).toMatchObject({ name: 'gpt-tokenizer o200k_base', exact: true })
    expect(counter.count('hello world')).toBe(2)
    expect(counter.count('')).toBe(0)
    expect((await gptTokenizer({ encoding: 'cl100k_base' })).name).toBe('gpt-tokenizer cl100k_base')
  })

  it('R41 treats special tokens in a prompt as text', async () => {
    expect((await gptTokenizer()).count('a <|endoftext|> b')).toBeGreaterThan(3)
  })

  it("R41 is named in a prompt's count, and the estimate is close", async () => {
    const counter = await gptTokenizer()
    const { tokens } = definePrompt({
      ns: 'test',
      key: 'p',
      sections: [defineSection({ key: 'a', title: 'A', template: prose })],
      counter,
    })
      .bind()
      .render()
    expect(tokens).toMatchObject({ exact: true, counter: 'gpt-tokenizer o200k_base' })
    expect(Math.abs(estimatedTokens.count(prose) / counter.count(prose) - 1)).toBeLessThan(0.2)
  })
})
