import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listStages, REQUEST_STAGES } from '../../packages/foldout-mcp/src/gateway/calls/pipeline.ts'
import { readSources } from '../../tools/house/sources.ts'

const repository = join(import.meta.dirname, '../..')
const text = readFileSync(join(repository, 'docs/architecture.md'), 'utf8')
const sources = readSources(repository)
const [, path = ''] = /^## The path of a call through the gateway$([\s\S]*?)^## /m.exec(text) ?? []

/** The names in the numbered list below a heading in bold. */
function readList(heading: string): readonly string[] {
  const [, list = ''] = path.split(`**${heading}**`)
  const [items = ''] = list.split(/^\*\*/m)
  return [...items.matchAll(/^\d+\. `(\w+)`/gm)].map(([, name = '']) => name)
}

/** Whether a line of the packages begins with the declaration of a function: a method, a handler or a constant. */
function isDeclared(name: string): boolean {
  const declaration = new RegExp(`^\\s*(?:export )?(?:async )?(?:function |const |get )?'?${name}'?[<(:] ?`, 'm')
  return sources.some(({ text }) => declaration.test(text))
}

describe('the path of a call in the architecture', () => {
  it('lists the stages of a request as they are', () => {
    expect(readList('The stages of a request')).toEqual(REQUEST_STAGES.map(({ name }) => name))
  })

  it('lists the stages of a call as they are, with the place of the user’s own', () => {
    const without = listStages().map(({ name }) => name)
    const own = listStages([(call, next) => next(call)]).map(({ name }) => name)
    const place = own.findIndex((name, i) => name !== without[i])
    expect(readList('The stages of a call')).toEqual(without.toSpliced(place, 0, 'stages'))
  })

  it('walks by functions that exist, on one screen', () => {
    const [, walk = ''] = path.split('**The walk**')
    const rows = walk.split('\n').filter((line) => /^\| (?!from|---)/.test(line))
    const walked = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
    expect(rows.length).toBeLessThanOrEqual(12)
    expect(walked.length).toBeGreaterThan(50)
    expect(walked.filter((name) => !isDeclared(name))).toEqual([])
    expect(isDeclared('createNothing')).toBe(false)
  })
})
