import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PACKAGES, repository } from '../tools/packages.mjs'

const page = readFileSync(join(repository, 'docs/events.md'), 'utf8')

const UNION = /^export type (\w+Event)(?:<[^>]*>)? =\n([^]*?)(?=^\S|$(?![^]))/gm
const TYPE = /readonly type: ((?:'[a-z/-]+'(?: \| )?)+)/g

/** Every exported union of events, with the `type` of each member that it declares itself. */
function readUnions(): ReadonlyMap<string, readonly string[]> {
  const files = PACKAGES.flatMap((name) => {
    const source = join(repository, 'packages', name, 'src')
    return readdirSync(source, { recursive: true, encoding: 'utf8' }).map((file) => join(source, file))
  })
  const texts = files
    .filter((file) => /(?<!\.test|\.fixtures)\.ts$/.test(file))
    .map((file) => readFileSync(file, 'utf8'))
  const found = texts.flatMap((text) => [...text.matchAll(UNION)])
  return new Map(
    found.map(([, name = '', members = '']) => [
      name,
      [...members.matchAll(TYPE)].flatMap(([, types = '']) => types.split(' | ').map((type) => type.slice(1, -1))),
    ]),
  )
}

/** The names in the first cells of a table on the page. */
function readRows(heading: string, column = 1): readonly string[] {
  const part = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const rows = part.split('\n').filter((line) => line.startsWith('| `'))
  return rows.map((row) => row.split('|')[column]?.trim().replaceAll('`', '') ?? '')
}

/** The part of the page that lists each union. */
const PARTS: Readonly<Record<string, string>> = {
  AgentEvent: 'Runs',
  ModelEvent: 'Runs',
  CatalogEvent: 'Catalogs',
  GatewayEvent: 'The gateway',
  FleetEvent: 'Durable runs',
}

describe('docs/events.md', () => {
  const unions = readUnions()

  it('lists every union of events', () => {
    expect([...unions.keys()].sort()).toEqual(Object.keys(PARTS).sort())
  })

  it.each([...new Set(Object.values(PARTS))])('%s: has a row for every event, and no other', (part) => {
    const events = [...unions].filter(([name]) => PARTS[name] === part).flatMap(([, types]) => types)
    expect(events.length).toBeGreaterThan(1)
    // A run adds fields to some events of its adapter.
    expect([...readRows(part)].sort()).toEqual([...new Set(events)].sort())
  })

  it('Sessions: has every event that a run dispatches', () => {
    const source = readFileSync(join(repository, 'packages/foldout/src/agent/events.ts'), 'utf8')
    const defined = [...source.matchAll(/^export const (\w+) = defineEvent<\w+>\(\)\('([a-z/]+)'\)/gm)]
    expect(defined.length).toBeGreaterThan(4)
    expect(readRows('Sessions')).toEqual(defined.map(([, name]) => name))
    expect(readRows('Sessions', 2)).toEqual(defined.map(([, , type]) => type))
  })
})
