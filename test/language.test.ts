import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const repository = join(import.meta.dirname, '..')
// `cancelled` is allowed: it is correct in both spellings, and the name of an MCP notification.
const BRITISH =
  /\b\w*(behaviour|colour|honour|favour|neighbour|normalis|recognis|organis|summaris|serialis|initialis|optimis(?!ti)|minimis|maximis|catalogue|centre\b|grey\b|licence|artefact|whilst|misspelt|learnt|fulfil\b)\w*/i
const TRANSLATED = /\b(anew|by and by|for want of|whoever|mends?|so many of some)\b/i
/** Texts of others, word lists, and the files that name these words. */
const EXEMPT =
  /^(LICENSE|tools\/search-training\/|tools\/house\/names\.ts|test\/language\.test\.ts|test\/home\/bad-input\.test\.ts|.*\/data\/|.*\.(corpus|words)\.ts$)/

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: repository,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => /\.(ts|mjs|md|ya?ml)$/.test(file) && !EXEMPT.test(file) && existsSync(join(repository, file)))

function find(pattern: RegExp): readonly string[] {
  return files.flatMap((file) => {
    const lines = readFileSync(join(repository, file), 'utf8').split('\n')
    return lines.flatMap((line, i) => (pattern.test(line) ? [`${file}:${i + 1}: ${line.trim().slice(0, 120)}`] : []))
  })
}

describe('the words of the repository', () => {
  it('are American', () => {
    expect(find(BRITISH)).toEqual([])
  })

  it('are idiomatic', () => {
    expect(find(TRANSLATED)).toEqual([])
  })
})
