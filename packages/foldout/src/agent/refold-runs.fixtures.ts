import fc from 'fast-check'
import { chatAdapter, NO_USAGE } from '../entries/adapter.ts'
import {
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  fail,
  ok,
  openSession,
  runAgent,
  type AgentEvent,
  type AgentOptions,
  type Message,
  type RefoldOptions,
  type Session,
  type ToolCall,
} from '../entries/index.ts'
import { visibility, type SessionStore } from '../entries/session.ts'
import { READ_RESULT } from '../entries/results.ts'
import { createReadResult } from './loop/fold-tools.ts'
import { createLedger } from './refold/ledger.ts'
import { Log } from '../session/log.ts'

/** What happens in a generated conversation, one after another. */
export type Happening =
  | { readonly does: 'reports'; readonly sizes: readonly number[] }
  | { readonly does: 'read-back'; readonly result: number }
  | { readonly does: 'open' | 'close'; readonly section: number }
  | { readonly does: 'fails' | 'answers' | 'restores' | 'waits' }

const SECTIONS = ['one', 'two', 'three'] as const

export const happenings: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        does: fc.constant('reports' as const),
        sizes: fc.array(fc.integer({ min: 0, max: 6_000 }), { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('read-back' as const), result: fc.nat(30) }) },
    {
      weight: 2,
      arbitrary: fc.record({ does: fc.constantFrom('open' as const, 'close' as const), section: fc.nat(2) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        does: fc.constantFrom('fails' as const, 'answers' as const, 'restores' as const, 'waits' as const),
      }),
    },
  ),
  { minLength: 5, maxLength: 40 },
)

export const refoldOptions = fc.record({
  at: fc.integer({ min: 2_000, max: 8_000 }),
  keepTurns: fc.integer({ min: 1, max: 6 }),
  minTokens: fc.constantFrom(0, 100, 300),
  cache: fc.constantFrom({ read: 0.1, write: 1.25, ttlMs: 300_000 }, { read: 0.5, write: 1, ttlMs: 60_000 }),
  summarize: fc.constantFrom<NonNullable<RefoldOptions['summarize']>>(() => 'Reports were read.', 'model'),
})

const getReportText = (n: number, size: number): string =>
  Array.from(
    { length: Math.ceil(size / 30) },
    (_, line) => `report ${n}, line ${line}: ${(n * 31 + line * 17) % 97} orders`,
  ).join('\n')

const report = defineTool({
  name: 'get_report',
  description: 'Returns a report.',
  params: { type: 'object' },
  execute: ({ n, size }: Record<string, unknown>) => ok(getReportText(Number(n), Number(size))),
})
const failing = defineTool({
  name: 'fails',
  description: 'Fails.',
  params: { type: 'object' },
  execute: () => fail('It failed.'),
})

export const getBody = (key: string): string => `The text of ${key}. ${`All about ${key}. `.repeat(40)}End.`
export const bound = definePrompt({
  ns: 'test',
  key: 'long',
  sections: [
    defineSection({ key: 'task', title: 'Task', template: 'Read the reports.', tools: [report, failing] }),
    ...SECTIONS.map((key) =>
      defineSection({
        key,
        title: key,
        summary: `About ${key}.`,
        visibility: 'summary',
        template: getBody(key),
        tools: [
          defineTool({
            name: `use_${key}`,
            description: 'A tool.',
            params: { type: 'object' },
            execute: () => ok('Used.'),
          }),
        ],
      }),
    ),
  ],
}).bind({})

export interface SentRequest {
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly string[]
  /** The sections that were open in the session. */
  readonly open: readonly string[]
  /** How many folds there were before. */
  readonly folds: number
}

export interface Played {
  readonly requests: readonly SentRequest[]
  readonly session: Session
  /** The text of each report, by call. */
  readonly texts: ReadonlyMap<string, string>
  readonly events: readonly AgentEvent[]
  readonly summarized: boolean
}

/** Plays a conversation, over user turns, with processes that are killed between requests and continue from a store. */
export async function play(
  steps: readonly Happening[],
  options: Pick<AgentOptions, 'refold' | 'contextWindow'>,
  { store, addsTools = true }: { readonly store?: SessionStore; readonly addsTools?: boolean } = {},
): Promise<Played> {
  const id = crypto.randomUUID()
  const player = new Player(steps)
  let session: Session = await reopen()
  for (let input = 0; player.isLeft(); input++) {
    const isContinued = player.isKilled
    player.isKilled = false
    player.session = session
    await runAgent(bound, {
      adapter: { ...player.adapter, supportsDynamicTools: addsTools },
      maxExpansions: 10_000,
      session,
      maxTurns: 10_000,
      ...options,
      ...(isContinued ? {} : { input: `Question ${input}.` }),
      onEvent: (event) => player.hear(event),
    }).catch((error: unknown) => {
      if (!player.isKilled) throw error
    })
    session = await reopen(session)
  }
  const { requests, texts, events } = player
  return {
    requests,
    texts,
    events,
    session,
    summarized: player.events.some((event) => event.type === 'results/folded' && event.summarized !== undefined),
  }

  async function reopen(before?: Session): Promise<Session> {
    if (store) return openSession({ store, id })
    if (!before) return createSession()
    return createSession({ snapshot: JSON.parse(JSON.stringify(before.snapshot())) })
  }
}

class Killed extends Error {}

class Player {
  readonly requests: SentRequest[] = []
  readonly texts = new Map<string, string>()
  readonly events: AgentEvent[] = []
  isKilled = false
  session: Session = createSession()
  #next = 0
  #calls = 0
  readonly #steps: readonly Happening[]

  constructor(steps: readonly Happening[]) {
    this.#steps = steps
  }

  isLeft(): boolean {
    return this.#next < this.#steps.length
  }

  hear(event: AgentEvent): void {
    this.events.push(event)
  }

  get adapter() {
    return chatAdapter({
      name: 'player',
      model: 'player',
      complete: async ({ system, messages, tools, addedTools }) => {
        const last = messages.at(-1)
        const isSummary = last?.role === 'user' && last.text.startsWith('Summarize this')
        if (isSummary)
          return { message: { role: 'assistant', text: 'Reports were read.', toolCalls: [] }, usage: NO_USAGE }
        const opened = this.session.get(visibility)
        this.requests.push({
          system,
          messages: [...messages],
          tools: [...tools.map(({ name }) => name), ...addedTools.keys()],
          open: SECTIONS.filter((key) => opened[key] === 'full'),
          folds: this.events.filter((event) => event.type === 'results/folded').length,
        })
        return this.#reply()
      },
    })
  }

  #reply() {
    for (;;) {
      const step = this.#steps[this.#next++]
      if (step === undefined || step.does === 'answers') return toReply('Done.', [])
      if (step.does === 'restores') {
        this.isKilled = true
        throw new Killed()
      }
      if (step.does === 'close') {
        this.session.dispatch(visibility.events.cleared({ path: SECTIONS[step.section] ?? 'one' }))
        continue
      }
      const calls = this.#toCalls(step)
      if (calls.length > 0) return toReply('', calls)
    }
  }

  #toCalls(step: Happening): readonly ToolCall[] {
    if (step.does === 'reports')
      return step.sizes.map((size) => {
        const call = this.#call('get_report', { n: this.#calls, size })
        this.texts.set(call.id, getReportText(this.#calls - 1, size))
        return call
      })
    if (step.does === 'open') return [this.#call('read_section', { section_key: SECTIONS[step.section] })]
    if (step.does === 'read-back') return [this.#call(READ_RESULT, { result: `r${step.result + 1}`, count: 2 })]
    return step.does === 'fails' ? [this.#call('fails', {})] : []
  }

  #call(name: string, args: Readonly<Record<string, unknown>>): ToolCall {
    const n = name === 'get_report' ? { n: this.#calls } : {}
    return { id: `call-${this.#calls++}`, name, arguments: { ...args, ...n } }
  }
}

function toReply(text: string, toolCalls: readonly ToolCall[]) {
  return { message: { role: 'assistant' as const, text, toolCalls }, usage: NO_USAGE }
}

/** Finds a message that breaks the rule of every provider: each call has exactly one result, right behind its reply. */
export function findUnpaired(messages: readonly Message[]): Message | undefined {
  let waiting = new Set<string>()
  for (const message of messages) {
    const isPaired = message.role === 'tool' ? waiting.delete(message.callId) : waiting.size === 0
    if (!isPaired) return message
    if (message.role === 'assistant') waiting = new Set(message.toolCalls.map(({ id }) => id))
  }
  return undefined
}

/** Projects a stored conversation as another process does. */
export function projectAgain(json: unknown): readonly Message[] {
  const { messages, folded, summary } = JSON.parse(JSON.stringify(json))
  const ledger = createLedger({ removesTools: false, countMessage: () => 1 })
  return ledger({ log: Log.of<Message>(messages), folded, summary }).sent
}

/** Reads a whole result with `read_result`, part by part. */
export async function readWhole(messages: readonly Message[], handle: string): Promise<string> {
  const tool = createReadResult(() => messages)
  let text = ''
  for (let from = 1; ;) {
    const result = await tool.execute({ result: handle, unit: 'characters', from, count: 2_000 }, {} as never)
    if (!result.ok) throw new Error(result.message)
    const [, part = '', next] = /^([^]*?)\n?\((?:Characters|No)[^(]*?(?:from: (\d+))?\.?\)$/.exec(result.message) ?? []
    text += part
    if (text === '' || next === undefined) return text
    from = Number(next)
  }
}
