import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { listExamples, readPublicExports, writeExamples } from './docs/examples.ts'
import { NOT_RUN } from './docs/not-run.ts'
import { compile } from './docs/snippets.ts'

const exports = readPublicExports()
const examples = listExamples(exports)
const format = ({ entry, name, path }: (typeof exports)[number]): string => `${entry}: ${name} (${path})`

describe('the public exports of every entry', () => {
  it('have a doc comment', () => {
    expect(exports.filter(({ hasDoc }) => !hasDoc).map(format)).toEqual([])
  })

  it('have an example', () => {
    expect(exports.filter(({ hasExample }) => !hasExample).map(format)).toEqual([])
  })
})

describe('a public name', () => {
  it('means the same in every entry', () => {
    const paths = new Map<string, Set<string>>()
    for (const { name, path } of exports) paths.set(name, (paths.get(name) ?? new Set()).add(path))
    expect([...paths].filter(([, declared]) => declared.size > 1)).toEqual([])
  })
})

describe('the examples of public exports', () => {
  const home = process.cwd()
  let folder = ''
  beforeAll(async () => {
    writeExamples(examples)
    // Examples name files by relative paths.
    folder = mkdtempSync(join(tmpdir(), 'foldout-examples-'))
    process.chdir(folder)
    await import(join(import.meta.dirname, 'docs/preambles/examples-files.ts'))
    for (const method of ['log', 'warn', 'error'] as const) vi.spyOn(console, method).mockImplementation(() => {})
    vi.spyOn(process.stdout, 'write').mockImplementation(() => true)
  }, 60_000)
  afterAll(() => {
    vi.restoreAllMocks()
    process.chdir(home)
    rmSync(folder, { recursive: true, force: true })
  })

  it('compile', { timeout: 120_000 }, () => {
    expect(compile('test/docs/tsconfig.examples.json')).toBe('')
  })

  it.each(examples.filter(({ title }) => NOT_RUN[title] === undefined))('$title runs', async ({ file }) => {
    await expect(import(file)).resolves.toBeDefined()
  })

  it('are all run, except the ones that cannot be', () => {
    const titles = new Set(examples.map(({ title }) => title))
    expect(Object.keys(NOT_RUN).filter((title) => !titles.has(title))).toEqual([])
  })
})
