import { describe, expect, it } from 'vitest'
import { readPublicExports, writeExamples } from './docs/examples.ts'
import { compile } from './docs/snippets.ts'

/** Rooms that are being documented right now. */
const UNFINISHED = /src\/(tools\/(tool|result)|prompt\/output|agent\/events)\.ts$/
const exports = readPublicExports()
const finished = exports.filter(({ path }) => !UNFINISHED.test(path))
const format = ({ entry, name, path }: (typeof exports)[number]): string => `${entry}: ${name} (${path})`

describe('the public exports of every entry', () => {
  it('have a doc comment', () => {
    expect(finished.filter(({ hasDoc }) => !hasDoc).map(format)).toEqual([])
  })

  it('have an example if they are functions, constants or classes', () => {
    expect(finished.filter(({ kind, hasExample }) => kind === 'value' && !hasExample).map(format)).toEqual([])
  })

  it('have examples that compile', { timeout: 120_000 }, () => {
    expect(writeExamples(exports)).toBeGreaterThan(200)
    expect(compile('test/docs/tsconfig.examples.json')).toBe('')
  })
})
