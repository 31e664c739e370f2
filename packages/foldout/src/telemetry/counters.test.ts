import { describe, expect, it } from 'vitest'
import { contextFiles, openSections } from '../entries/index.ts'
import { createMemoryFilesystem } from '../entries/files.ts'
import { calls, callsAll, says } from '../testing/scripted-adapter.ts'
import { createCounters } from './counters.ts'
import { runShop, type ShopRun } from './shop.fixtures.ts'

const read = (key: string) => calls('read_section', { section_key: key })
const open = (...keys: string[]) => calls('open_sections', { section_keys: keys, reason: '' })

async function counted(script: Parameters<typeof runShop>[0], options: ShopRun = {}) {
  const counters = createCounters()
  await runShop(script, { ...options, onEvent: counters.onEvent })
  return counters.read()
}

describe('counters', () => {
  it('R40 count tools injected, dynamic openings, calls and failures', async () => {
    expect(await counted([read('cart'), read('rules'), calls('add'), calls('spoil'), says('Done.')])).toEqual({
      'foldout.tools.injected': 2,
      'foldout.disclosure.restarts': 0,
      'foldout.disclosure.dynamic': 2,
      'foldout.tools.calls': 4,
      'foldout.tools.failures': 1,
    })
  })

  it('R40 do not count an opening that leads to a restart as dynamic; another one next to it may be', async () => {
    const both = callsAll(['read_section', { section_key: 'rules' }], ['read_section', { section_key: 'cart' }])
    expect(await counted([both, says('Done.')], { scripted: { supportsDynamicTools: false } })).toMatchObject({
      'foldout.tools.injected': 0,
      'foldout.disclosure.restarts': 1,
      'foldout.disclosure.dynamic': 1,
    })
  })

  it('R40 count one restart for several openings once', async () => {
    const both = callsAll(
      ['open_sections', { section_keys: ['cart'], reason: '' }],
      ['open_sections', { section_keys: ['rules'], reason: '' }],
    )
    expect(await counted([both, says('Done.')], { disclosure: openSections() })).toMatchObject({
      'foldout.disclosure.restarts': 1,
      'foldout.disclosure.dynamic': 0,
    })
  })

  it('R40 do not count openings that wait for a later restart as dynamic', async () => {
    const scripted = { supportsDynamicTools: false }
    expect(await counted([read('cart'), calls('look'), says('Done.')], { opening: 'batched', scripted })).toMatchObject(
      { 'foldout.disclosure.restarts': 1, 'foldout.disclosure.dynamic': 0 },
    )
  })

  it('R40 count a failed opening as neither dynamic nor a restart', async () => {
    const counts = await counted([open('cart', 'rules'), says('Done.')], {
      disclosure: openSections(),
      opening: 'conservative',
    })
    expect(counts).toMatchObject({ 'foldout.disclosure.restarts': 1, 'foldout.disclosure.dynamic': 0 })
    const left = callsAll(
      ['open_sections', { section_keys: ['cart'], reason: '' }],
      ['open_sections', { section_keys: ['rules'], reason: '' }],
    )
    const options = { disclosure: openSections(), opening: 'conservative' } as const
    expect(await counted([left, says('Done.')], options)).toMatchObject({
      'foldout.disclosure.restarts': 1,
      'foldout.disclosure.dynamic': 0,
    })
  })

  it('R40 count an opening that still waits when the run stops as neither', async () => {
    const options = { disclosure: openSections(), opening: 'batched', maxTurns: 1 } as const
    expect(await counted([open('cart')], options)).toMatchObject({
      'foldout.disclosure.restarts': 0,
      'foldout.disclosure.dynamic': 0,
    })
  })

  it('R40 count no opening for sections that are already open or do not exist', async () => {
    expect(await counted([read('intro'), read('nowhere'), says('Done.')])).toMatchObject({
      'foldout.disclosure.dynamic': 0,
      'foldout.tools.calls': 2,
      'foldout.tools.failures': 1,
    })
  })

  it('R40 count sections written to files as opened without a restart', async () => {
    const options = { disclosure: contextFiles({ readTool: false }), filesystem: createMemoryFilesystem() }
    expect(await counted([open('rules'), open('cart'), says('Done.')], options)).toMatchObject({
      'foldout.disclosure.restarts': 1,
      'foldout.disclosure.dynamic': 1,
    })
  })

  it('R40 include running and failed runs', async () => {
    const counters = createCounters()
    const seen: (number | undefined)[] = []
    const failing = runShop([read('rules'), { throws: new Error('down') }], {
      onEvent: (event) => {
        counters.onEvent(event)
        if (event.type === 'request/sent') seen.push(counters.read()['foldout.disclosure.dynamic'])
      },
    })
    await expect(failing).rejects.toThrow('down')
    expect(seen).toEqual([0, 1])
    await runShop([read('rules'), says('Done.')], { onEvent: counters.onEvent })
    expect(counters.read()['foldout.disclosure.dynamic']).toBe(2)
  })
})
