import { createCatalog } from 'foldout/catalog'
import { beforeAll, describe, expect, it } from 'vitest'
import { compareExposures, computeCosts } from '../../gateway/serve/costs.ts'
import { formatTools, type CostView } from './format-tools.ts'
import type { Surroundings } from '../support/surroundings.ts'

const LONG = 'a_tool_with_a_name_that_is_nearly_as_long_as_a_name_can_be'

const define = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } as const })

let view: CostView
beforeAll(async () => {
  const catalog = createCatalog([])
  const steps = Array.from({ length: 11 }, (_, i) => define(`step_${11 - i}`, `Does step ${11 - i} of the work.`))
  catalog.replace('work', [...steps, define('Step_0', 'Begins.')])
  catalog.replace('a-server-with-quite-a-long-name', [define(LONG, 'Does a thing that takes a while to describe.')])
  catalog.replace('broken', [define('', 'It has no name.')])
  const costs = computeCosts(catalog)
  const exposures = await compareExposures(catalog, costs, [])
  const servers = ['work', 'a-server-with-quite-a-long-name', 'empty'].map((name) => ({ name, tools: 0 }))
  // Only the fields that the text is made of.
  view = { catalog, costs, exposures, servers, failed: [] } as unknown as CostView
})

function format(columns?: number): readonly string[] {
  const stream = { write: () => true, ...(columns === undefined ? {} : { columns }) }
  const surroundings: Surroundings = {
    stdout: stream,
    stderr: stream,
    env: {},
    signal: new AbortController().signal,
    version: '1',
  }
  return formatTools(view, surroundings).trimEnd().split('\n')
}

describe('R58 the text of foldout tools', () => {
  it('orders numbers in names by their value', () => {
    const names = format().flatMap((line) => /^ {2}(step_\d+)/i.exec(line)?.[1] ?? [])
    expect(names).toEqual(['Step_0', ...Array.from({ length: 11 }, (_, i) => `step_${i + 1}`)])
  })

  it.each([30, 40, 50, 60, 70, 80, 100, 120])('fits a terminal of %d columns', (columns) => {
    expect(format(columns).filter((line) => line.length > columns)).toEqual([])
  })

  it('names the whole tool wherever it fits', () => {
    expect(format(LONG.length + 2)).toContain(`  ${LONG}`)
    expect(format(LONG.length + 1)).toContain(`  ${LONG.slice(0, -2)}…`)
  })

  it('has neither bars nor a table of exposures in 40 columns', () => {
    const lines = format(40)
    expect(lines.slice(0, 3)).toEqual([
      'work  12 tools, 283 tokens',
      '  Step_0       19  Begins',
      '  step_1       24  Does step 1 of the w…',
    ])
    const from = lines.indexOf('a-server-with-quite-a-long-name')
    expect(lines.slice(from, from + 20)).toEqual([
      'a-server-with-quite-a-long-name',
      '  1 tool, 53 tokens',
      '  a_tool_with_a_name_that_is_nearly_as_…',
      '    53  Does a thing that takes a while…',
      '',
      'empty',
      '  no tools',
      '',
      'broken/? cannot be used: Its definition',
      'has no name.',
      '',
      '13 tools, 336 tokens (estimated). What',
      'each exposure lists:',
      '  auto: 13 tools, 336 tokens',
      '    lists everything',
      '  all: 13 tools, 336 tokens',
      '    lists everything',
      '  hybrid: 2 tools, 260 tokens',
      '    132 tokens per tool found',
      '    cheaper than all: before search 1',
    ])
  })

  it('has a narrower table of exposures in 60 columns', () => {
    const lines = format(60)
    expect(lines.slice(0, 3)).toEqual([
      'work  12 tools, 283 tokens █████████',
      '  Step_0       19  ▋           Begins',
      '  step_1       24  ▉           Does step 1 of the work',
    ])
    const from = lines.findIndex((line) => line.includes('What each'))
    expect(lines.slice(from, from + 7)).toEqual([
      '13 tools, 336 tokens (estimated). What each exposure lists:',
      '              tools    tokens  per find  cheaper than all',
      '  auto           13       336            lists everything',
      '  all            13       336            lists everything',
      '  hybrid          2       260       132  before search 1',
      '  meta-tool       1       218       140  before search 1',
      '  two-phase       3       320       202  before search 1',
    ])
  })
})
