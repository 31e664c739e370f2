import { describe, expect, it } from 'vitest'
import {
  contextFiles,
  defineSection,
  openOrRead,
  openSections,
  readSection,
  type AnySection,
  type AnyTool,
} from '../entries/index.ts'
import { createMemoryFilesystem } from '../entries/files.ts'
import { visibility } from '../entries/session.ts'
import { calls, callsAll, says } from '../testing/scripted-adapter.ts'
import { named, prepare, show } from './run.fixtures.ts'

/** A folded section with about one token per word. */
function long(key: string, words: number, ...tools: AnyTool[]): AnySection {
  const template = `${'word '.repeat(words)}of ${key}.`
  return defineSection({ key, title: key, template, summary: `Some of ${key}.`, visibility: 'summary', tools })
}

const sections = [show('door', named('look')), long('vault', 3_000, named('take')), long('chest', 400, named('unlock'))]
const open = (...keys: string[]): [string, object] => ['open_sections', { section_keys: keys, reason: '' }]

describe("R41 an opening that does not fit the model's window", () => {
  it.each([
    ['readSection', readSection(), true],
    ['readSection', readSection(), false],
    ['openSections', openSections(), true],
    ['openOrRead', openOrRead(), true],
    ['openOrRead', openOrRead(), false],
    ['contextFiles', contextFiles({ readTool: false }), true],
  ])('is rejected with the size of its text: %s, tools can be added: %s', async (name, disclosure, dynamic) => {
    const call = name === 'readSection' ? calls('read_section', { section_key: 'vault' }) : calls(...open('vault'))
    const { run, session, getResults, adapter } = prepare([call, calls('take'), says('Done.')], {
      sections,
      disclosure,
      contextWindow: 2_000,
      filesystem: createMemoryFilesystem(),
      scripted: { supportsDynamicTools: dynamic },
    })
    await run()
    expect(getResults()[0]).toMatch(
      /^Opening vault needs about 3\d\d\d tokens, but about \d+ of the model's 2000 are in use\./,
    )
    expect(getResults()[1]).toContain('which is not open yet')
    expect(session.get(visibility)).toEqual({})
    expect(adapter.requests.every(({ system }) => !system.includes('word'))).toBe(true)
  })

  it('counts sections that were opened in the same reply and wait for the same render', async () => {
    const rooms = [long('a', 500), long('b', 500), long('c', 500)]
    const { run, session, getResults } = prepare([callsAll(open('a'), open('b'), open('c')), says('Done.')], {
      sections: rooms,
      disclosure: openSections(),
      contextWindow: 1_500,
    })
    await run()
    expect(getResults().map((text) => text.split(' ')[0])).toEqual(['Opened:', 'Opened:', 'Opening'])
    expect(session.get(visibility)).toEqual({ a: 'full', b: 'full' })
  })

  it('is not rejected for sections that the policy leaves for later', async () => {
    const { run, session, getResults } = prepare([calls(...open('chest', 'vault')), says('Done.')], {
      sections,
      disclosure: openSections(),
      opening: 'conservative',
      contextWindow: 1_200,
    })
    await run()
    expect(getResults()[0]).toMatch(/^Opened: chest\..* Not opened yet: vault\./)
    expect(session.get(visibility)).toEqual({ chest: 'full' })
  })
})
