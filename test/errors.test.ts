import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const repository = join(import.meta.dirname, '..')
const sources = ['packages/foldout/src', 'packages/foldout-fleet/src'].map((folder) => join(repository, folder))
const declaration = join(repository, 'packages/foldout/src/core/errors.ts')

const files = sources.flatMap((source) =>
  readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.(test|fixtures)\.ts$/.test(path))
    .map((path) => join(source, path)),
)

/** The members of the union `ErrorCode`. */
function readUnion(): readonly string[] {
  const [, members = ''] = /export type ErrorCode =((?:\s*\| '[a-z-]+')+)/.exec(readFileSync(declaration, 'utf8')) ?? []
  return [...members.matchAll(/'([a-z-]+)'/g)].map(([, code = '']) => code)
}

/** The codes that the page has a row for, with that row. */
function readPage(): ReadonlyMap<string, string> {
  const page = readFileSync(join(repository, 'docs/errors.md'), 'utf8')
  return new Map([...page.matchAll(/^\| `([a-z-]+)` \|.*$/gm)].map(([row, code = '']) => [code, row]))
}

/** The codes in the places where errors are created. */
function readThrown(): ReadonlySet<string> {
  const made = /(?:new (?:Foldout|Adapter)Error|super|fail)\(\s*'([a-z]+(?:-[a-z]+)*)',/g
  return new Set(files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(made)].map(([, code = '']) => code)))
}

describe('error codes', () => {
  const union = readUnion()

  it('are one union, in order', () => {
    expect(union.length).toBeGreaterThan(50)
    expect(union).toEqual([...new Set(union)].sort())
  })

  it('are all explained in docs/errors.md, which has no others', () => {
    expect([...readPage().keys()].sort()).toEqual([...union])
  })

  it('are explained with when they happen and what to do', () => {
    const isExplained = (row: string): boolean => /^\| `[a-z-]+` \| [^|]+\. \| [^|]+\. \|$/.test(row)
    expect([...readPage().values()].filter((row) => !isExplained(row))).toEqual([])
  })

  it('are all thrown somewhere', () => {
    const texts = files.filter((file) => file !== declaration).map((file) => readFileSync(file, 'utf8'))
    const own = /super\('([a-z-]+)'/g
    const ofPrompts = new Set([...readFileSync(declaration, 'utf8').matchAll(own)].map(([, code = '']) => code))
    const isThrown = (code: string): boolean => ofPrompts.has(code) || texts.some((text) => text.includes(`'${code}'`))
    expect(union.filter((code) => !isThrown(code))).toEqual([])
  })

  it('are in the union wherever an error is created', () => {
    const thrown = readThrown()
    expect(thrown.size).toBeGreaterThan(40)
    const known = new Set<string>(union)
    // JSON mistakes in a text have codes too, but are not errors.
    expect([...thrown].filter((code) => !known.has(code) && code !== 'malformed' && code !== 'too-deep')).toEqual([])
  })
})
