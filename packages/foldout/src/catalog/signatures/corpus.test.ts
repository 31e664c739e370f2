import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../core/schema/schema.ts'
import { shortenDescription } from './short-description.ts'
import { formatSignature } from './signature.ts'

const corpus = join(import.meta.dirname, '../../../../../../shared/data/toucan-corpus/tools.jsonl')

interface CorpusTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: JsonSchema
}

describe('R45 signatures of real tools', () => {
  it.skipIf(!existsSync(corpus))('R45 leave five hits far below 300 tokens (needs the toucan corpus)', () => {
    const counts = readFileSync(corpus, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as CorpusTool)
      .filter(({ inputSchema }) => inputSchema !== undefined)
      .filter((_, i) => i % 5 === 0)
      .map((tool) => {
        const signature = formatSignature({ name: tool.name, inputSchema: tool.inputSchema!, outputSchema: undefined })
        return countTokens(`${signature} - ${shortenDescription(tool)}\n`)
      })
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
    expect(mean * 5).toBeLessThan(240)
    expect(Math.max(...counts)).toBeLessThan(260)
  })
})
