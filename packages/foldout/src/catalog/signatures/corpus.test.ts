import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../core/schema/schema.ts'
import { shortenDescription } from './short-description.ts'
import { formatSignature } from './signature.ts'

const corpus = join(import.meta.dirname, '../../../../../test/data/mcp-tools/tools.jsonl')

interface CorpusTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema?: JsonSchema
}

describe('R45 signatures of real tools', () => {
  it('R45 keep five hits under 300 tokens', () => {
    const counts = readFileSync(corpus, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as CorpusTool)
      .filter(({ inputSchema }) => inputSchema !== undefined)
      .map((tool) => {
        const signature = formatSignature({ name: tool.name, inputSchema: tool.inputSchema!, outputSchema: undefined })
        return countTokens(`${signature} - ${shortenDescription(tool)}\n`)
      })
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
    // These servers have larger schemas than most: five average hits are 247 tokens.
    expect(mean * 5).toBeLessThan(260)
    expect(Math.max(...counts)).toBeLessThan(260)
  })
})
