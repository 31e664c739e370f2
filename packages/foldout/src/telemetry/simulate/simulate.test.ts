import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { Message } from '../../adapters/contract.ts'
import {
  contextFiles,
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  estimatedTokens,
  ok,
  openOrRead,
  openSections,
  readSection,
  runAgent,
  type AnyTool,
  type DisclosureStrategy,
  type TokenCounter,
} from '../../entries/index.ts'
import { createMemoryFilesystem } from '../../entries/files.ts'
import { calls, callsAll, says, scriptedAdapter, type ScriptStep } from '../../testing/scripted-adapter.ts'
import type { PromptCache } from '../../core/price/prompt-cache.ts'
import { toolTokens } from '../../tools/definition.ts'
import { simulate } from './simulate.ts'
import type { SimulatedRun, SimulationOptions } from './contract.ts'

const words = (what: string, count: number): string =>
  Array.from({ length: count }, (_, i) => `${what} rule ${i + 1} holds.`).join(' ')
const readFile = defineTool({
  name: 'read_file',
  description: 'Reads a file.',
  params: z.object({ path: z.string() }),
  execute: async ({ path }, { filesystem }) => ok(await filesystem!.read(path)),
})
const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  params: z.object({ order: z.string() }),
  execute: () => ok('Paid back in full.'),
})
const stock = defineTool({ name: 'stock', description: 'Counts what is left.', execute: () => ok('Seven are left.') })
const folded = { visibility: 'summary' } as const
const shop = definePrompt({
  ns: 'shop',
  key: 'clerk',
  sections: [
    defineSection({ key: 'intro', title: 'Intro', template: words('Intro', 40), tools: [readFile] }),
    defineSection({
      key: 'refunds',
      title: 'Refunds',
      template: words('Refund', 120),
      summary: 'Refunds.',
      tools: [refund],
      ...folded,
    }),
    defineSection({ key: 'rules', title: 'Rules', template: words('House', 150), summary: 'House rules.', ...folded }),
    defineSection({
      key: 'goods',
      title: 'Goods',
      template: words('Goods', 90),
      summary: 'Goods.',
      ...folded,
      children: [
        defineSection({
          key: 'stock',
          title: 'Stock',
          template: words('Stock', 60),
          summary: 'Stock.',
          tools: [stock],
          ...folded,
        }),
      ],
    }),
  ],
})
const tools: readonly AnyTool[] = [readFile, refund, stock]
const count = (text: string): number => estimatedTokens.count(text)
const run: SimulatedRun = {
  prompt: shop.bind(),
  input: 'Order 17 came broken. Pay it back.',
  steps: [
    { opens: ['refunds', 'rules'] },
    {
      calls: [{ name: 'refund', argumentsTokens: count('{"order":"17"}'), resultTokens: count('Paid back in full.') }],
    },
    { opens: ['goods.stock'] },
    { calls: [{ name: 'stock', argumentsTokens: count('{}'), resultTokens: count('Seven are left.') }] },
    { answers: 40 },
  ],
}
/** Caches without a minimum. */
const blocks: PromptCache = { minimum: 0, read: 0.1, write: 1.25, ttlMs: 300_000 }
const steps128: PromptCache = { ...blocks, write: 1, step: 128 }
const simulated = (options: Partial<SimulationOptions> = {}, of: SimulatedRun = run) =>
  simulate(of, { strategy: readSection(), ...options })

/** The same run as a scripted model would make it with each strategy. */
const refunding = calls('refund', { order: '17' })
const scripts: Readonly<Record<string, readonly ScriptStep[]>> = {
  readSection: [
    callsAll(['read_section', { section_key: 'refunds' }], ['read_section', { section_key: 'rules' }]),
    refunding,
    calls('read_section', { section_key: 'goods.stock' }),
    calls('stock'),
    says('Done.'),
  ],
  openSections: [
    calls('open_sections', { section_keys: ['refunds', 'rules'], reason: '' }),
    refunding,
    calls('open_sections', { section_keys: ['goods.stock'], reason: '' }),
    calls('stock'),
    says('Done.'),
  ],
  openOrRead: [
    callsAll(['open_sections', { section_keys: ['refunds'], reason: '' }], ['read_section', { section_key: 'rules' }]),
    refunding,
    calls('open_sections', { section_keys: ['goods.stock'], reason: '' }),
    calls('stock'),
    says('Done.'),
  ],
  'everything-in-full': [refunding, calls('stock'), says('Done.')],
}

/** Counts the tokens of the requests that a provider would receive from the loop. */
async function realRequests(name: string, options: { dynamic: boolean; strategy: DisclosureStrategy | undefined }) {
  const script = scripts[name]!
  const adapter = scriptedAdapter(script, { supportsDynamicTools: options.dynamic })
  const everything = { refunds: 'full', rules: 'full', goods: 'full', 'goods.stock': 'full' } as const
  await runAgent(shop.bind(), {
    adapter,
    session: createSession(),
    filesystem: createMemoryFilesystem(),
    input: run.input!,
    ...(options.strategy ? { disclosure: options.strategy } : { visibility: everything }),
  })
  adapter.assertDone()
  const strategyTools = options.strategy ? shop.bind().render({ disclosure: options.strategy }).tools : []
  const byName = new Map([...strategyTools, ...tools].map((tool) => [tool.name, tool]))
  return adapter.requests.map((request) => {
    const definitions = request.tools.reduce((sum, name) => sum + toolTokens(byName.get(name)!, estimatedTokens), 0)
    const messages = request.messages.reduce((sum, message) => sum + messageTokens(message), 0)
    return count(request.system) + definitions + messages
  })
}

function messageTokens(message: Message): number {
  if (message.role === 'tools') return 0
  if (message.role !== 'assistant') return count(message.text)
  return message.toolCalls.reduce(
    (sum, call) => sum + count(call.name) + count(JSON.stringify(call.arguments)),
    count(message.text),
  )
}

const strategies: readonly DisclosureStrategy[] = [readSection(), openSections(), openOrRead()]

describe('simulate()', () => {
  it.each(
    strategies.flatMap((strategy) => [
      { strategy, name: strategy.name, dynamic: true },
      { strategy, name: strategy.name, dynamic: false },
    ]),
  )('R41 counts what a real run of $name sends (tools can be added: $dynamic)', async ({ strategy, name, dynamic }) => {
    const real = await realRequests(name, { dynamic, strategy })
    for (const adapter of dynamic ? (['dynamic', 'dynamic-plain'] as const) : (['restart'] as const)) {
      const { requests, inputTokens } = await simulated({ strategy, adapter })
      expect(requests.map((request) => request.inputTokens)).toEqual(real)
      expect(inputTokens).toBe(real.reduce((sum, one) => sum + one, 0))
    }
  })

  it('R41 counts what a real run sends when every section is open from the start', async () => {
    const { requests } = await simulated({ strategy: 'everything-in-full' })
    const real = await realRequests('everything-in-full', { dynamic: true, strategy: undefined })
    expect(requests.map((request) => request.inputTokens)).toEqual(real)
  })

  it('counts reading the files that a strategy has written', async () => {
    const { requests, sections } = await simulated(
      { strategy: contextFiles() },
      { ...run, steps: [{ opens: ['rules'] }, { answers: 1 }] },
    )
    expect(requests).toHaveLength(3)
    expect(sections).toEqual(['intro', 'rules'])
    const read = requests[2]!.messages - requests[1]!.messages
    const call = count('read_file') + count('{"path":"context/rules.md"}')
    expect(read).toBe(call + count(`# Rules\n\n${words('House', 150)}`))
  })

  it('ends with the same texts and tools for every strategy and adapter', async () => {
    for (const strategy of [...strategies, contextFiles()]) {
      for (const adapter of ['dynamic', 'dynamic-plain', 'restart'] as const) {
        const { sections, tools } = await simulated({ strategy, adapter })
        expect({ sections, tools }).toEqual({
          sections: ['intro', 'refunds', 'rules', 'goods', 'goods.stock'],
          tools: ['read_file', 'refund', 'stock'],
        })
      }
    }
  })

  it('bills each token once and ends the same, whatever the order of openings', async () => {
    const keys = fc.subarray(['refunds', 'rules', 'goods', 'goods.stock'], { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(keys, { maxLength: 4 }),
        fc.constantFrom('dynamic', 'dynamic-plain', 'restart'),
        fc.constantFrom(blocks, steps128),
        async (openings, adapter, cache) => {
          const any: SimulatedRun = { ...run, steps: [...openings.map((opens) => ({ opens })), { answers: 1 }] }
          const ends = []
          for (const strategy of [...strategies, contextFiles()]) {
            const options = { strategy, adapter, cache } as const
            const { requests, sections, tools } = await simulated(options, any)
            ends.push({ sections, tools })
            for (const request of requests) {
              expect(request.inputTokens).toBe(request.tools + request.system + request.messages)
              expect(request.cacheReadTokens + request.cacheWriteTokens).toBe(request.inputTokens)
            }
          }
          for (const end of ends) expect(end).toEqual(ends[0])
        },
      ),
      { numRuns: 60 },
    )
  })

  it('leaves out texts and tools that a run did not reach', async () => {
    const { sections, tools } = await simulated({}, { ...run, steps: [{ opens: ['rules'] }, { answers: 5 }] })
    expect(sections).toEqual(['intro', 'rules'])
    expect(tools).toEqual(['read_file'])
  })

  it('opens nothing twice', async () => {
    const twice = { ...run, steps: [{ opens: ['rules'] }, { opens: ['rules', 'intro'] }, { answers: 5 }] }
    expect((await simulated({}, twice)).requests).toHaveLength(2)
    expect((await simulated({ strategy: contextFiles() }, twice)).requests).toHaveLength(3)
  })

  it('counts an added tool once when the prompt is rendered again', async () => {
    const mixed: DisclosureStrategy = {
      ...readSection(),
      tools: (view) => {
        const [read] = readSection().tools(view)
        const [open] = openSections().tools(view)
        const execute: AnyTool['execute'] = (input, context) =>
          (input as { section_key: string }).section_key === 'rules'
            ? open!.execute({ section_keys: ['rules'] }, context)
            : read!.execute(input, context)
        return [{ ...read!, execute }]
      },
    }
    const steps = [{ opens: ['refunds'] }, { opens: ['rules'] }, { answers: 1 }]
    const { requests, restarts } = await simulated({ strategy: mixed }, { ...run, steps })
    expect(restarts).toBe(1)
    const call = count('read_section') + count('{"section_key":"rules"}')
    const result = count('Opened: rules. Its text is now in the system prompt.')
    const added = toolTokens(refund, estimatedTokens)
    expect(requests[2]!.messages).toBe(requests[1]!.messages + call + result - added)
    expect(requests[2]!.tools).toBe(requests[1]!.tools + added)
  })

  it('counts restarts', async () => {
    expect((await simulated({ adapter: 'restart' })).restarts).toBe(2)
    expect((await simulated({ adapter: 'dynamic' })).restarts).toBe(0)
    expect((await simulated({ strategy: openSections() })).restarts).toBe(2)
  })
})

/** One token per character, so figures can be computed by hand. */
const characters: TokenCounter = { name: 'characters', exact: true, count: (text) => text.length }

describe('simulated caching', () => {
  it('bills everything in full without a cache', async () => {
    const { inputTokens, billedTokens, cacheReadTokens } = await simulated()
    expect(billedTokens).toBe(inputTokens)
    expect(cacheReadTokens).toBe(0)
  })

  it('R42 reads the whole earlier request from the cache if tools are appended to the conversation', async () => {
    const { requests } = await simulated({ cache: blocks })
    expect(requests[0]).toMatchObject({ cacheReadTokens: 0, cacheWriteTokens: requests[0]!.inputTokens })
    expect(requests.slice(1).map(({ cacheReadTokens }) => cacheReadTokens)).toEqual(
      requests.slice(0, -1).map(({ inputTokens }) => inputTokens),
    )
    for (const { billedTokens, cacheReadTokens, cacheWriteTokens } of requests) {
      expect(billedTokens).toBeCloseTo(cacheReadTokens * 0.1 + cacheWriteTokens * 1.25)
    }
  })

  it('R42 reads nothing of the earlier request if the tool list grows', async () => {
    const { requests } = await simulated({ adapter: 'dynamic-plain', cache: blocks })
    // The second and the fourth request follow an opening with tools.
    expect(requests.map(({ cacheReadTokens }) => cacheReadTokens > 0)).toEqual([false, false, true, false, true])
    const openai = await simulated({
      adapter: 'dynamic-plain',
      cache: steps128,
      counter: characters,
    })
    const kept = Math.floor(openai.requests[0]!.tools / 128) * 128
    expect(openai.requests[1]!.cacheReadTokens).toBe(kept)
  })

  it('R42 reads the text before the opened section if the cache works by tokens', async () => {
    const options = { strategy: openSections(), counter: characters } as const
    const steps: SimulatedRun = { ...run, steps: [{ opens: ['rules'] }, { answers: 1 }] }
    const { requests } = await simulated({ ...options, cache: steps128 }, steps)
    const before = shop.bind().render({ disclosure: openSections() }).text
    const same = requests[0]!.tools + before.indexOf('House rules.')
    // Both texts continue with `House ` before they differ.
    expect(requests[1]!.cacheReadTokens).toBe(Math.floor((same + 'House '.length) / 128) * 128)
    expect((await simulated({ ...options, cache: blocks }, steps)).requests[1]!.cacheReadTokens).toBe(
      requests[0]!.tools,
    )
  })

  it('caches nothing below the minimum', async () => {
    const { billedTokens, inputTokens } = await simulated({ cache: { ...blocks, minimum: 1e9 } })
    expect(billedTokens).toBe(inputTokens)
  })

  it('accepts rates, and a cache that another run has filled', async () => {
    const { requests } = await simulated({
      cache: { ...steps128, read: 0.5, write: 2 },
      cacheStart: 'warm',
    })
    const { tools: definitions, system, inputTokens, billedTokens } = requests[0]!
    const read = Math.floor((definitions + system) / 128) * 128
    expect(billedTokens).toBe(read * 0.5 + (inputTokens - read) * 2)
  })
})

describe('bills', () => {
  it('R78 bills one simulation at several prices, as separate simulations would', async () => {
    const { bill } = await simulated()
    for (const cache of ['none', 'anthropic', 'openai', blocks] as const) {
      for (const cacheStart of ['cold', 'warm', { perHour: 40 }] as const) {
        const { billedTokens, cost, assumptions } = await simulated({ cache, cacheStart })
        expect(bill({ cache, cacheStart })).toMatchObject({ billedTokens, cost, assumptions })
      }
    }
  })

  it('R78 counts what the model writes, at the price of output', async () => {
    const { outputTokens, billedTokens, cost, requests } = await simulated({ outputRate: 4 })
    const open = (key: string): number => count('read_section') + count(JSON.stringify({ section_key: key }))
    const calling = count('refund') + count('{"order":"17"}')
    expect(requests.map((request) => request.outputTokens)).toEqual([
      open('refunds') + open('rules'),
      calling,
      open('goods.stock'),
      count('stock') + count('{}'),
      40,
    ])
    expect(cost).toBe(billedTokens + 4 * outputTokens)
  })

  it('R78 weighs a warm and a cold start by the conversations per hour', async () => {
    const { bill } = await simulated()
    const warm = bill({ cache: blocks, cacheStart: 'warm' }).billedTokens
    const cold = bill({ cache: blocks, cacheStart: 'cold' }).billedTokens
    const share = 1 - Math.exp(-40 / 12)
    const busy = bill({ cache: blocks, cacheStart: { perHour: 40 } })
    expect(busy.billedTokens).toBeCloseTo(share * warm + (1 - share) * cold, 6)
    expect(bill({ cache: blocks, cacheStart: { perHour: 0 } }).billedTokens).toBeCloseTo(cold, 6)
    expect(bill({ cache: { ...blocks, ttlMs: 3_600_000 }, cacheStart: { perHour: 40 } }).billedTokens).toBeCloseTo(
      warm,
      3,
    )
  })

  it('R78 says what a bill assumes', async () => {
    const { assumptions, bill } = await simulated()
    expect(assumptions).toEqual([
      'Tokens are estimated (tokenx).',
      'Nothing is cached.',
      'The output costs 5 times as much as the input.',
    ])
    expect(bill({ cache: 'openai', cacheStart: { perHour: 40 }, outputRate: 8 }).assumptions.slice(1)).toEqual([
      'The cache holds steps of 128 tokens of requests of 1024 tokens or more, for 5 minutes. Reading costs 0.1 and writing 1 times the price of input.',
      '40 conversations an hour begin alike, so 96 % of them find their beginning in the cache.',
      'The output costs 8 times as much as the input.',
    ])
  })

  it('R78 takes turns with a person, who may take longer than the cache lives', async () => {
    const talk = (afterMs: number): SimulatedRun => ({
      ...run,
      steps: [{ opens: ['rules'] }, { says: 73, hears: 24, afterMs }, { answers: 10 }],
    })
    const { requests } = await simulated({ cache: blocks }, talk(0))
    expect(requests).toHaveLength(3)
    expect(requests[2]!.messages - requests[1]!.messages).toBe(73 + 24)
    expect(requests.map(({ cacheReadTokens }) => cacheReadTokens > 0)).toEqual([false, true, true])
    const slow = await simulated({ cache: blocks }, talk(600_000))
    expect(slow.requests.map(({ cacheReadTokens }) => cacheReadTokens > 0)).toEqual([false, true, false])
  })

  it('R78 continues the conversation with the words of a person', async () => {
    const said = 'And what else do you have?'
    const steps = (hears: number | string): SimulatedRun => ({
      ...run,
      steps: [{ opens: ['refunds'] }, { says: 7, hears }, { opens: ['goods.stock'] }, { answers: 10 }],
    })
    const words = await simulated({ cache: blocks }, steps(said))
    const tokens = await simulated({ cache: blocks }, steps(count(said)))
    expect(words.requests.map(({ inputTokens }) => inputTokens)).toEqual(
      tokens.requests.map(({ inputTokens }) => inputTokens),
    )
    expect(words.billedTokens).toBe(tokens.billedTokens)
    expect(words.sections).toEqual(tokens.sections)
  })

  it('R78 opens a section whose summary has its whole text if a tool comes with it, even one that others share', async () => {
    const text = 'Pay back what came broken.'
    const section = (key: string, tools: readonly AnyTool[]) =>
      defineSection({ key, title: key, template: text, summary: text, tools, ...folded })
    const prompt = definePrompt({
      ns: 'shop',
      key: 'same',
      sections: [section('one', [refund]), section('two', [refund, stock]), section('three', [])],
    })
    const open = (opens: readonly string[]) =>
      simulate({ prompt: prompt.bind(), steps: [{ opens }, { answers: 1 }] }, { strategy: readSection() })
    expect((await open(['two'])).tools).toEqual(['refund', 'stock'])
    expect((await open(['one'])).requests).toHaveLength(2)
    expect((await open(['three'])).requests).toHaveLength(1)
  })
})

describe('openings ahead', () => {
  const steps: SimulatedRun['steps'] = [
    { opens: ['refunds'] },
    { calls: [{ name: 'refund', argumentsTokens: 5, resultTokens: 5 }] },
    { answers: 40 },
  ]
  const once: SimulatedRun = { ...run, steps }

  it('R84 spare the request that opens, wherever the sections are shown', async () => {
    const folded = await simulated({ cache: blocks }, once)
    for (const cacheStart of ['cold', 'warm', { perHour: 12 }] as const) {
      const ahead = await simulated({ cache: blocks, cacheStart, open: () => ['refunds'] }, once)
      expect(ahead.requests).toHaveLength(folded.requests.length - 1)
      expect(ahead.sections).toEqual(folded.sections)
      expect(ahead.tools).toEqual(folded.tools)
    }
  })

  it('R84 cost their tokens and nothing else if they are not needed', async () => {
    const folded = await simulated({}, once)
    const wrong = await simulated({ open: ['rules'] }, once)
    const most = count(words('House', 150)) + 10
    expect(wrong.requests).toHaveLength(folded.requests.length)
    expect(wrong.inputTokens - folded.inputTokens).toBeLessThanOrEqual(most * folded.requests.length)
  })

  it('R84 are shared by the conversations that begin with the same sections', async () => {
    const { bill } = await simulated({ cache: blocks, cacheStart: { perHour: 12 }, open: () => ['refunds'] }, once)
    expect(bill({ cache: blocks, cacheStart: { perHour: 12 }, share: 1 }).cost).toBeLessThan(
      bill({ cache: blocks, cacheStart: { perHour: 12 }, share: 0.1 }).cost,
    )
  })

  it('R84 follow each message of a person', async () => {
    const asked: string[] = []
    const rule = (input: string): readonly string[] => {
      asked.push(input)
      return input.includes('stock') ? ['goods.stock'] : []
    }
    const chat: SimulatedRun = {
      ...run,
      steps: [
        { says: 10, hears: 'What is in stock?' },
        { calls: [{ name: 'stock', argumentsTokens: 1, resultTokens: 1 }] },
        { answers: 10 },
      ],
    }
    const { tools: callable, requests } = await simulated({ open: rule }, chat)
    expect(asked).toEqual([run.input, 'What is in stock?'])
    expect(callable).toEqual(['read_file', 'stock'])
    expect(requests).toHaveLength(3)
  })
})

describe('impossible runs', () => {
  it.each([
    [[{ opens: ['refund'] }], "There is no section 'refund'. Nearest sections: refunds"],
    [
      [{ calls: [{ name: 'refund', argumentsTokens: 1, resultTokens: 1 }] }],
      "Step 1 of the run is not possible. The tool 'refund' cannot be called yet.",
    ],
    [[{ answers: 1 }, { answers: 1 }], 'Step 1 of the run is an answer, but 1 more follow.'],
  ])('refuses %j', async (steps, message) => {
    await expect(simulated({}, { ...run, steps })).rejects.toThrow(message)
    await expect(simulated({}, { ...run, steps })).rejects.toMatchObject({ code: 'simulation-invalid' })
  })
})

describe('other visibilities of sections', () => {
  const define = (refunds: 'full' | 'summary', rules: 'full' | 'summary') =>
    definePrompt({
      ns: 'shop',
      key: 'what-if',
      sections: [
        defineSection({
          key: 'refunds',
          title: 'Refunds',
          template: words('Refund', 120),
          summary: 'Refunds.',
          tools: [refund],
          visibility: refunds,
        }),
        defineSection({
          key: 'rules',
          title: 'Rules',
          template: words('House', 150),
          summary: 'House rules.',
          visibility: rules,
        }),
      ],
    }).bind()
  const steps: SimulatedRun['steps'] = [
    { opens: ['refunds', 'rules'] },
    { calls: [{ name: 'refund', argumentsTokens: 5, resultTokens: 5 }] },
    { answers: 10 },
  ]
  const strategies = [readSection(), openSections(), openOrRead()].map((strategy) => [strategy.name, strategy] as const)

  it.each(strategies)('R40 cost the same as in a prompt that is defined that way: %s', async (_name, strategy) => {
    for (const [refunds, rules] of [
      ['full', 'summary'],
      ['summary', 'full'],
      ['full', 'full'],
      ['summary', 'summary'],
    ] as const) {
      const asked = await simulate(
        { prompt: define('summary', 'full'), steps },
        { strategy, visibility: { refunds, rules } },
      )
      const defined = await simulate({ prompt: define(refunds, rules), steps }, { strategy })
      expect({ ...asked, bill: undefined }).toEqual({ ...defined, bill: undefined })
    }
  })

  it('R40 reject unknown sections, unknown values, and everything-in-full together with visibility', async () => {
    const ask = (visibility: Record<string, unknown>, strategy: SimulationOptions['strategy'] = readSection()) =>
      simulate({ prompt: define('full', 'full'), steps }, {
        strategy,
        visibility,
      } as SimulationOptions)
    await expect(ask({ refund: 'full' })).rejects.toMatchObject({
      code: 'simulation-invalid',
      message: expect.stringMatching(/^There is no section 'refund' .* Nearest sections: refunds\b/) as string,
    })
    await expect(ask({ refunds: 'hidden' })).rejects.toThrow("The visibility of 'refunds' must be 'full' or 'summary'.")
    await expect(ask({ refunds: 'full' }, 'everything-in-full')).rejects.toMatchObject({ code: 'simulation-invalid' })
    await expect(ask(JSON.parse('{"__proto__": "full"}') as Record<string, unknown>)).rejects.toMatchObject({
      code: 'simulation-invalid',
    })
  })
})

describe('a section whose summary contains its text', () => {
  const body = 'Pay it back.'
  const define = (own: readonly AnyTool[]) =>
    definePrompt({
      ns: 'shop',
      key: 'short',
      sections: [
        defineSection({ key: 'refunds', title: 'Refunds', template: body, summary: body, tools: [...own], ...folded }),
      ],
    }).bind()

  it('R40 is opened if it brings tools', async () => {
    const steps = [
      { opens: ['refunds'] },
      { calls: [{ name: 'refund', argumentsTokens: 3, resultTokens: 4 }] },
      { answers: 5 },
    ]
    const { requests, tools: callable } = await simulated({}, { prompt: define([refund]), steps })
    expect({ requests: requests.length, callable }).toEqual({ requests: 3, callable: ['refund'] })
  })

  it('R40 is not opened if it brings none, because it can be read', async () => {
    const steps = [{ opens: ['refunds'] }, { answers: 5 }]
    const { requests, sections } = await simulated({}, { prompt: define([]), steps })
    expect({ requests: requests.length, sections }).toEqual({ requests: 1, sections: ['refunds'] })
  })
})
