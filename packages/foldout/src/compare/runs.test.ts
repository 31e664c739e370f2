import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { all, catalogSection, createCatalog, hybrid, type Exposure } from '../entries/catalog.ts'
import {
  compare,
  graders,
  readSavedLine,
  simulateUser,
  type CompareArm,
  type CompareOptions,
  type GradedRun,
  type SavedRun,
} from '../entries/compare.ts'
import { createHost } from '../entries/disclosure.ts'
import { definePrompt, defineSection, defineTool, ok, openSections } from '../entries/index.ts'
import { simulate } from '../entries/telemetry.ts'
import { calls, says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import { createCases, createModel, desk } from './compare.fixtures.ts'
import { billRun } from './report/money.ts'

const arms = { full: { prompt: desk, open: 'all' }, folded: { prompt: desk } } as const
const prices = { input: 3, read: 0.3, write: 3.75, output: 15, minimum: 100, ttl: 300 }

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'foldout-compare-runs-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const readRuns = (file: string): readonly SavedRun[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => readSavedLine(line) ?? [])
    .filter((line) => line.type === 'run')

describe('the conversation of a run', () => {
  it('R80 says the scripted turns, and grades all answers without the name of the arm', async () => {
    const graded: GradedRun[] = []
    const report = await compare({
      cases: [{ id: 'a', turns: ['Hi.', 'And now?'] }],
      arms,
      adapter: () => scriptedAdapter([says('One.'), says('Two.')]),
      grade: {
        whole(run) {
          graded.push(run)
          return run.answers.join(' ') === 'One. Two.' ? 1 : 0.5
        },
      },
    })
    expect(report.arms['folded']?.success).toBe(1)
    expect(graded).toHaveLength(2)
    expect(graded[0]?.text).toBe('Two.')
    expect(Object.keys(graded[0] ?? {})).not.toContain('arm')
  })

  it('R80 goes on as long as a simulated user has something to say, and counts what the user costs', async () => {
    const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 0 }
    const asked: string[] = []
    const createUser = (): ReturnType<typeof scriptedAdapter> =>
      scriptedAdapter([says(asked.length < 2 ? `Message ${asked.length}` : '###DONE###')], { usage })
    const user = simulateUser(() => createUser())
    const save = join(folder, 'user.jsonl')
    const report = await compare({
      cases: [{ id: 'a', user: 'You want a refund.', includes: 'bye' }],
      arms,
      parallel: 1,
      adapter: ({ arm }) => {
        asked.length = 0
        return scriptedAdapter([says(`Hello ${arm}.`), says('Good bye.')], { usage })
      },
      user: async (talk) => {
        const next = await user(talk)
        if (next !== undefined) asked.push(next)
        return next
      },
      prices,
      save,
    })
    expect(report.arms['full']?.success).toBe(1)
    const [run] = readRuns(save)
    expect(run?.userUsage?.inputTokens).toBe(30)
    expect(run?.requests).toHaveLength(2)
    expect(report.spentUsd).toBeCloseTo((2 * (2 + 3) * (10 * 3 + 5 * 15)) / 1e6, 9)
  })

  it("R80 tells a second model word for word what a user's part is", async () => {
    const model = scriptedAdapter([says(' Where is it? ')])
    const user = simulateUser(() => model)
    const { signal } = new AbortController()
    const talk = { case: { id: 'a', user: 'Order ${17} is late.' }, world: undefined, signal, spend: () => undefined }
    expect(await user({ ...talk, said: ['Hi.'], answers: ['Hello.'] })).toBe('Where is it?')
    expect(model.requests[0]).toMatchInlineSnapshot(`
      {
        "messages": [
          {
            "role": "user",
            "text": "The conversation so far:

      Person: Hi.

      Assistant: Hello.

      Write the next message.",
          },
        ],
        "system": "## 1 Your part

      You play a person who writes to an assistant. Write only what the person says next, in one short message. Know and want only what the story says. Do not help the assistant, and do not invent facts.

      The story: Order \${17} is late.

      When the person has what they want, or sees that they will not get it, write only ###DONE###",
        "tools": [],
      }
    `)
  })

  it('R80 counts an error, and never drops it', async () => {
    const report = await compare({
      cases: createCases(12),
      arms,
      adapter: ({ arm, case: { id } }) => {
        if (arm === 'folded' && id.endsWith('1')) throw new Error('No key.')
        return createModel()
      },
    }).catch((error: unknown) => error)
    expect(report).toMatchObject({
      arms: {
        full: { errors: 0 },
        folded: {
          errors: 2,
          runs: 12,
          against: { verdict: 'no-signal', reasons: [expect.stringContaining('No key.')] },
        },
      },
      notes: ['2 runs ended with an error and count as failed.'],
    })
  })

  it('R80 a grader that fails is an error of the run', async () => {
    const grade = { broken: () => 7 }
    const { arms: found } = await compare({ cases: createCases(3), arms, adapter: () => createModel(), grade })
    expect(found['full']).toMatchObject({ errors: 3, success: 0 })
  })
})

describe('what a run costs', () => {
  it('R80 agrees with a simulation of the same steps', async () => {
    const save = join(folder, 'money.jsonl')
    await compare({ cases: createCases(1), arms, adapter: () => createModel(), prices, save })
    const folded = readRuns(save).find(({ arm }) => arm === 'folded')
    const cache = { minimum: 100, read: 0.1, write: 1.25, ttlMs: 300_000 }
    const simulation = await simulate(
      {
        prompt: desk,
        input: 'Please help me with refunds.',
        steps: [
          { opens: ['refunds'] },
          { calls: [{ name: 'do_refunds', argumentsTokens: 1, resultTokens: 5 }] },
          { answers: 0 },
        ],
      },
      { strategy: desk.render().disclosure, cache, outputRate: 0 },
    )
    for (const cacheStart of ['cold', 'warm'] as const) {
      const bill = simulation.bill({ cache, cacheStart, outputRate: 0 })
      const own = billRun(
        (folded?.requests ?? []).map((request) => ({ ...request, output: 0 })),
        prices,
        cacheStart === 'warm',
      )
      expect(own / ((bill.billedTokens * 3) / 1e6)).toBeCloseTo(1, 1)
      expect(folded?.requests.map(({ input }) => input)[0]).toBe(simulation.requests[0]?.inputTokens)
    }
  })

  it('R80 tools at the end of the list cost more than in place, and steps share more than blocks', async () => {
    const save = join(folder, 'places.jsonl')
    await compare({ cases: createCases(1), arms, adapter: () => createModel(), prices, save })
    const requests = readRuns(save).find(({ arm }) => arm === 'folded')?.requests ?? []
    const inPlace = billRun(requests, prices, true)
    expect(billRun(requests, { ...prices, added: 'at-end' }, true)).toBeGreaterThan(inPlace)
    expect(billRun(requests, { ...prices, added: 'at-end', step: 1 }, true)).toBeLessThan(
      billRun(requests, { ...prices, added: 'at-end' }, true),
    )
    // A cache that is gone before the next request is cold.
    const late = requests.map((request) => ({ ...request, afterMs: 400_000 }))
    expect(billRun(late, prices, true)).toBeGreaterThan(inPlace)
    expect(billRun(requests, { ...prices, minimum: 1e6 }, true)).toBe(
      billRun(requests, { ...prices, minimum: 1e6 }, false),
    )
  })

  it('R80 begins no run once the budget is spent, and goes on from there', async () => {
    const save = join(folder, 'budget.jsonl')
    const options: CompareOptions = {
      cases: createCases(10),
      arms,
      adapter: () => createModel(),
      prices,
      save,
      parallel: 1,
    }
    const stopped = await compare({ ...options, budget: 0.02 })
    expect(stopped.stopped).toBe('budget')
    const { length } = readRuns(save)
    expect(length).toBeLessThan(20)
    expect(stopped.spentUsd).toBeGreaterThanOrEqual(0.02)
    expect((await compare(options)).stopped).toBe(null)
    expect(readRuns(save)).toHaveLength(20)
  })

  it('R80 stops if a budget cannot be counted', async () => {
    const report = await compare({ cases: createCases(10), arms, adapter: () => createModel(), budget: 1, parallel: 1 })
    expect(report.stopped).toBe('budget')
    expect(report.notes[0]).toMatch(/a budget cannot be kept/)
  })
})

describe('arms', () => {
  it('R80 may differ in the loop, whose events are counted', async () => {
    const host: CompareArm['host'] = async ({ prompt, input, onEvent, messages }) => {
      const own = createHost(prompt, { onEvent })
      own.report.started({ input, model: { provider: 'acme', name: 'one' } })
      let state = own.at([])
      const read = { id: 'call-1', name: 'read_section', arguments: { section_key: 'refunds' } }
      const send = (): void =>
        own.report.sent({
          prompt: own.at([]).getPrompt(),
          messages: messages.length + 1,
          tools: state.tools.map(({ name }) => name),
        })
      send()
      own.report.replied({ text: '', calls: [read], usage: { inputTokens: 90, outputTokens: 9 } })
      const { events } = await state.call(read)
      state = own.at(events)
      send()
      const work = { id: 'call-2', name: 'do_refunds', arguments: {} }
      own.report.replied({ text: '', calls: [work] })
      await state.call(work)
      own.report.finished('completed')
      return { text: 'Done.' }
    }
    const save = join(folder, 'host.jsonl')
    const report = await compare({
      cases: createCases(1),
      arms: { ...arms, own: { prompt: desk, host } },
      adapter: () => createModel(),
      save,
    })
    expect(report.arms['own']).toMatchObject({
      success: 1,
      requests: 2,
      openings: { needed: 1, recall: 1, precision: 1 },
    })
    const run = readRuns(save).find(({ arm }) => arm === 'own')
    expect(run).toMatchObject({ model: 'acme/one', opened: ['refunds'], readable: ['refunds'], used: ['refunds'] })
    expect(run?.requests[1]?.same).toBeGreaterThan(0)
    expect(run?.requests[1]?.added).toBeGreaterThan(0)
  })

  it('R80 may differ in how a catalog of tools is listed', async () => {
    const weather = defineTool({ name: 'get_weather', description: 'Tells the weather.', execute: () => ok('Sunny.') })
    const others = Array.from({ length: 20 }, (_, i) =>
      defineTool({ name: `other_${i}`, description: `Does something else: ${i}.`, execute: () => ok('No.') }),
    )
    const catalog = createCatalog([weather, ...others])
    const role = defineSection({ key: 'role', title: 'Role', template: 'You help at home.' })
    const toPrompt = (expose: Exposure): CompareArm['prompt'] =>
      definePrompt({ ns: 'test', key: 'home', sections: [role, catalogSection(catalog, { expose })] }).bind()
    const report = await compare({
      cases: Array.from({ length: 10 }, (_, i) => ({
        id: `${i}`,
        input: 'What is the weather?',
        calls: [{ name: 'get_weather' }],
      })),
      arms: { all: { prompt: toPrompt(all()) }, hybrid: { prompt: toPrompt(hybrid()) } },
      adapter: ({ arm }) =>
        scriptedAdapter(
          arm === 'all'
            ? [calls('get_weather'), says('Sunny.')]
            : [
                calls('search_tools', { query: 'weather' }),
                calls('use_tool', { name: 'get_weather', arguments: {} }),
                says('Sunny.'),
              ],
        ),
    })
    const { hybrid: found, all: listed } = report.arms
    expect([listed?.success, found?.success]).toEqual([1, 1])
    expect(found?.requests).toBe(3)
    expect(found?.inputTokens).toBeGreaterThan(0)
  })

  it('R80 that begin with the same bytes have no verdict, unless they open ahead', async () => {
    const cases = createCases(12)
    const adapter = ({ repeat, case: { id } }: { repeat: number; case: { id: string } }) =>
      createModel({ errs: 0.5, seed: repeat + id.length * 7 + Number(id.split('-')[1]) })
    const { arms: found } = await compare({
      cases,
      arms: {
        base: { prompt: desk },
        same: { prompt: desk },
        ahead: { prompt: desk, open: ['refunds'] },
        strategy: { prompt: desk, disclosure: openSections() },
      },
      adapter,
    })
    const reasons = (arm: string): string => found[arm]?.against?.reasons.join(' ') ?? ''
    expect(reasons('same')).toContain('began with the same bytes')
    expect(reasons('ahead')).not.toContain('same bytes')
    expect(reasons('strategy')).not.toContain('same bytes')
  })

  it('R80 may be loops that report nothing: what they have sent is unknown, not the same', async () => {
    const tell = (texts: readonly string[]): CompareArm => ({
      prompt: desk,
      host: async ({ case: { id } }) => ({ text: texts[Number(id) % texts.length] ?? '' }),
    })
    const report = await compare({
      cases: Array.from({ length: 40 }, (_, i) => ({ id: String(i), input: 'Go.', includes: 'Done' })),
      arms: { base: tell(['Done.', 'Done.', 'Done.', 'No.']), other: tell(['Done.', 'No.', 'No.', 'No.']) },
    })
    expect(report.arms['other']?.against).toMatchObject({ verdict: 'worse', reasons: [], better: 0, worse: 20 })
  })

  it('R80 that never open a section although they need one have no verdict', async () => {
    const report = await compare({
      cases: createCases(12),
      arms,
      adapter: ({ arm, case: { id } }) => createModel({ errs: arm === 'folded' ? 1 : 0, seed: id.length }),
    })
    expect(report.arms['folded']?.against?.reasons).toEqual([
      expect.stringContaining("'folded' never opened a section, although its runs needed 12"),
    ])
  })
})

describe('a saved comparison', () => {
  it('R80 of other cases, models or graders is refused, and so is any other file', async () => {
    const save = join(folder, 'refused.jsonl')
    const options: CompareOptions = { cases: createCases(2), arms, adapter: () => createModel(), save }
    await compare(options)
    const others: Partial<CompareOptions>[] = [
      { cases: [{ id: 'other', input: 'Hi.', includes: 'x' }] },
      { grade: { other: () => true } },
      { adapter: () => ({ ...createModel(), model: 'another' }) },
    ]
    for (const other of others)
      await expect(compare({ ...options, ...other })).rejects.toMatchObject({ code: 'compare-file' })
    const notes = join(folder, 'notes.txt')
    writeFileSync(notes, 'My notes.\n')
    await expect(compare({ ...options, save: notes })).rejects.toThrow(/is not a comparison/)
    await expect(compare({ ...options, save: folder })).rejects.toMatchObject({ code: 'compare-file' })
    expect(readFileSync(notes, 'utf8')).toBe('My notes.\n')
  })

  it('R80 keeps the runs of the arms and cases that have not changed', async () => {
    const save = join(folder, 'changed.jsonl')
    const options: CompareOptions = { cases: createCases(4), arms, adapter: () => createModel(), save }
    await compare(options)
    const done: number[] = []
    const onProgress = ({ kept }: { kept: number }): unknown => done.push(kept)
    const report = await compare({
      ...options,
      cases: [...createCases(4).slice(0, 3), { id: 'new', input: 'refunds', calls: [{ name: 'do_refunds' }] }],
      arms: { full: arms.full, folded: { prompt: desk, version: '2' } },
      onProgress,
    })
    // Three runs of the base are kept; its new case and all of the other arm are made.
    expect(done).toEqual([3, 3, 3, 3, 3])
    expect(report.notes).toContain('5 saved runs are left out, because their case or their arm has changed since.')
  })
})

it.each([
  ['no cases', { cases: [] }, /There are no cases/],
  ['no arms', { arms: {} }, /There are no arms/],
  ['one arm', { arms: { full: { prompt: desk } } }, /is the only arm/],
  ['an arm without a prompt', { arms: { full: {} as CompareArm, other: { prompt: desk } } }, /'full' has no prompt/],
  ['a base that is no arm', { base: 'none' }, /The base 'none' is not one of the arms/],
  ['no repeats', { repeat: 0 }, /repeat is 0/],
  ['looks that fall', { repeat: 5, looks: [5, 3] }, /looks must be/],
  ['a margin in points', { margin: 5 }, /margin is 5\. Pass a share/],
  ['prices without output', { prices: { input: 3 } as never }, /prices needs input and output/],
  ['a case that nothing grades', { cases: [{ id: 'a', input: 'x' }] }, /Nothing grades the case 'a'/],
  ['a state that nothing reads', { cases: [{ id: 'a', input: 'x', state: 1 }] }, /has a state, but nothing reads it/],
  [
    'a user whom nobody plays',
    { cases: [{ id: 'a', user: 'x', includes: 'y' }] },
    /has a user, but nobody plays users/,
  ],
] satisfies [string, Partial<CompareOptions>, RegExp][])('R80 compare refuses %s', async (_name, wrong, message) => {
  const options: CompareOptions = { cases: createCases(1), arms, adapter: () => createModel(), ...wrong }
  await expect(compare(options)).rejects.toThrow(message)
  expect(graders.calls().expects).toBe('calls')
})
