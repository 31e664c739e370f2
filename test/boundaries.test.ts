import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Each folder of `src` and the folders it may import, types included. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  session: ['core'],
  tools: ['core', 'session'],
  disclosure: ['core', 'session', 'tools'],
  prompt: ['core', 'session', 'tools', 'disclosure'],
  // Adapters see prompts only as types, and nothing of disclosure or the loop.
  adapters: ['core', 'session', 'tools', 'prompt'],
  // Catalogs know nothing of prompts; what hangs one on a prompt has a folder of its own.
  catalog: ['core', 'session', 'tools'],
  sections: ['core', 'session', 'tools', 'prompt', 'catalog'],
  agent: ['core', 'session', 'tools', 'disclosure', 'prompt', 'adapters'],
  // Telemetry listens to everything and nothing imports it.
  telemetry: ['core', 'session', 'tools', 'disclosure', 'prompt', 'adapters', 'agent'],
  // Behind subpaths of their own.
  code: ['core', 'catalog'],
  'gpt-tokenizer': ['core'],
  libsql: ['core', 'session'],
  mcp: ['core', 'session', 'tools', 'disclosure', 'prompt', 'catalog'],
  node: ['core', 'tools', 'prompt', 'session', 'agent', 'telemetry'],
  skills: ['core', 'tools', 'prompt'],
  testing: ['core', 'session', 'tools', 'disclosure', 'prompt', 'adapters', 'agent', 'catalog'],
}

const src = join(import.meta.dirname, '..', 'src')
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/\.(test|fixtures)\.ts$/.test(file) && file.includes(sep),
)
const folderOf = (file: string): string => relative(src, file).split(sep)[0]!
const importsOf = (file: string): string[] =>
  [...readFileSync(join(src, file), 'utf8').matchAll(/\b(?:from|import) ?\(? ?'([^']+)'/g)].map((match) => match[1]!)

describe('layers', () => {
  it('every folder is listed', () => {
    expect([...new Set(files.map((file) => file.split(sep)[0]!))].filter((folder) => !(folder in mayImport))).toEqual(
      [],
    )
  })

  it('every import stays within them', () => {
    const broken = files.flatMap((file) => {
      const from = folderOf(join(src, file))
      return importsOf(file)
        .filter((target) => target.startsWith('.'))
        .map((target) => folderOf(join(src, dirname(file), target)))
        .filter((to) => to !== from && !mayImport[from]?.includes(to))
        .map((to) => `${file}: ${from} must not import ${to}`)
    })
    expect(broken).toEqual([])
  })

  it('no source file is longer than 400 lines', () => {
    expect(files.filter((file) => readFileSync(join(src, file), 'utf8').split('\n').length > 400)).toEqual([])
  })
})
