import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const file = 'test/types/cases/mistakes.ts'

/** The compiler's message for each case, by the case's name. */
function messages(): Map<string, string> {
  const lines = readFileSync(join(root, file), 'utf8').split('\n')
  const cases = new Map<string, string>()
  const caseAt = (line: number): string => {
    for (let i = line - 1; i >= 0; i--) {
      const name = /^\/\/ case: (.*)$/.exec(lines[i]!)?.[1]
      if (name) return name
    }
    return 'before the first case'
  }
  for (const line of lines) {
    const name = /^\/\/ case: (.*)$/.exec(line)?.[1]
    if (name) cases.set(name, '')
  }
  const { stdout } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'test/types/cases'], {
    cwd: root,
    encoding: 'utf8',
  })
  let current = ''
  for (const line of stdout.split('\n')) {
    const match = /^(.*)\((\d+),\d+\): error (TS\d+: .*)$/.exec(line)
    if (match) {
      if (match[1] !== file) throw new Error(`A mistake outside the cases: ${line}`)
      current = caseAt(Number(match[2]))
      cases.set(current, `${cases.get(current) ?? ''}${match[3]}\n`)
    } else if (line.trim()) {
      cases.set(current, `${cases.get(current)}${line}\n`)
    }
  }
  return cases
}

describe('compiler messages for mistakes', () => {
  it('R5 R8 every mistake is found, with the messages in messages.txt', async () => {
    const found = messages()
    expect([...found.keys()]).not.toContain('before the first case')
    expect([...found].filter(([, message]) => message === '').map(([name]) => name)).toEqual([])
    const text = [...found]
      .map(([name, message]) => `${name}\n    ${message.trimEnd().replaceAll('\n', '\n    ')}\n`)
      .join('\n')
    await expect(text).toMatchFileSnapshot('messages.txt')
  })

  it('R5 the longest message about a placeholder contains only its name and the known names', () => {
    const message = messages().get('a misspelled placeholder in a string template')
    expect(message).toBe(
      `TS2322: Type 'string' is not assignable to type 'UnknownPlaceholder<"objectve", "audience" | "files" | "note" | "objective" | "verbose">'.\n`,
    )
  })
})
