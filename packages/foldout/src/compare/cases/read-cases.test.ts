import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCases } from '../../entries/compare.ts'
import { checkCases } from './read-cases.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-cases-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function read(text: string): ReturnType<typeof readCases> {
  const file = join(folder, 'cases.jsonl')
  writeFileSync(file, text)
  return readCases(file)
}

const deep = (open: string, close: string): string =>
  `{"id":"a","data":${open.repeat(100_000)}1${close.repeat(100_000)}}`

describe('a file of cases', () => {
  it('R80 may have a byte order mark, Windows line ends and empty lines', async () => {
    expect(await read('\uFEFF{"id":"a","input":"Hi"}\r\n\r\n{"id":"b","turns":["Hi","So?"]}\r\n')).toEqual([
      { id: 'a', input: 'Hi' },
      { id: 'b', turns: ['Hi', 'So?'] },
    ])
  })

  it.each([
    ['nothing', '\n \n', /has no cases\. Write one to a line/],
    ['text', '{"id":"a"}\nhello', /^Line 2 of '.*' is not valid JSON/],
    ['a list', '[]', /^Line 1 of '.*' is not an object/],
    [
      '4 MB in a line',
      `{"id":"a","input":"${'x'.repeat(4e6)}"}`,
      /^Line 1 of '.*' has 40000\d\d characters\. A case may have 1000000/,
    ],
    ['deep objects', deep('{"a":', '}'), /Line 1 of '.*' (is nested more than 100 levels deep|is not valid JSON|has)/],
    ['deep lists', deep('[', ']'), /Line 1 of '.*' is nested more than 100 levels deep/],
    [
      'the same id twice',
      '{"id":"a"}\n{"id":"b"}\n{"id":"a"}',
      /^Line 3 of '.*' has the id 'a', which Line 1 of '.*' has already/,
    ],
    ['no id', '{"input":"Hi"}', /^Line 1 of '.*' has no id/],
    ['an empty id', '{"id":""}', /a field 'id' that is not a text of 1 to 200 characters/],
    ['a number as input', '{"id":"a","input":1}', /a field 'input' that is not a text/],
    ['no turns', '{"id":"a","turns":[]}', /a field 'turns' that is not a list of 1 to 1000 texts/],
    ['calls without names', '{"id":"a","calls":[{"tool":"x"}]}', /a field 'calls' that is not a list of calls/],
    ['input and turns', '{"id":"a","input":"x","turns":["y"]}', /has both input and turns/],
    [
      'a field with another name',
      '{"id":"a","imput":"x"}',
      /a field 'imput', which cases do not have\. Did you mean 'input'\?/,
    ],
    ['__proto__', '{"id":"a","__proto__":{"input":"x"}}', /a field '__proto__', which cases do not have/],
    ['a broken pattern', '{"id":"a","matches":"("}', /^The case 'a' has a pattern in matches that cannot be used/],
  ])('R80 with %s is refused with its line', async (_name, text, message) => {
    await expect(read(text)).rejects.toThrow(message)
  })

  it('R80 that is missing or a folder is refused', async () => {
    await expect(readCases(join(folder, 'missing.jsonl'))).rejects.toThrow(/cannot be read: ENOENT/)
    await expect(readCases(folder)).rejects.toThrow(/cannot be read/)
  })

  it('R80 __proto__ in data stays data', async () => {
    const [one] = await read('{"id":"__proto__","data":{"__proto__":{"isAdmin":true}}}')
    expect(one?.id).toBe('__proto__')
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined()
    expect(JSON.stringify(one?.data)).toBe('{"__proto__":{"isAdmin":true}}')
  })

  it('R80 anything else is a case or a fault that says what to do', () => {
    fc.assert(
      fc.property(fc.array(fc.anything({ withNullPrototype: true, maxDepth: 3 })), (given) => {
        let code: string | undefined
        try {
          if (checkCases(given).length === given.length) code = 'compare-invalid'
        } catch (error) {
          ;({ code } = error as { code?: string })
        }
        expect(code).toBe('compare-invalid')
      }),
    )
  })
})
