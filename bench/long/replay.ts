import {
  agentRun,
  createSession,
  definePrompt,
  defineSection,
  defineTool,
  ok,
  runAgent,
  type TokenCounter,
} from 'foldout'
import type { Message, ProviderAdapter, ToolCall } from 'foldout'
import { chatAdapter, NO_USAGE, type ChatReply, type ChatRequest } from 'foldout/adapter'
import type { RecordedTurn, Segment } from './data.ts'
import { PRICES, type Policy, type Price } from './policies.ts'

/** What one conversation has cost. */
export interface Replayed {
  /** Billed input at each price of the policy's run, in tokens at the price of input. */
  readonly billed: ReadonlyMap<string, number>
  /** The tokens of the largest request. */
  readonly peak: number
  readonly folds: number
  readonly turns: number
  /** Turns in which the model read something again. */
  readonly readBacks: number
  /** Needs of folded results, and how many of them the model could read again at all, and with one call. */
  readonly needs: number
  readonly reached: number
  readonly inOneCall: number
  /** Results that are not in the conversation as they were. */
  readonly lost: number
}

/** Real tokens are half as many again as characters / 4. The base of a conversation is what the provider has counted. */
const SCALE = 1.5
const CHARACTERS_PER_TOKEN = 4

/** Counts stand-ins, which have as many characters as their size says. */
const counter: TokenCounter = {
  name: 'stand-in',
  exact: true,
  count: (text) => Math.ceil(text.length / CHARACTERS_PER_TOKEN),
}

/** Lines with numbers, so that any part of a text can be searched for. */
function createText(seed: string, tokens: number): string {
  const length = Math.round(tokens * SCALE * CHARACTERS_PER_TOKEN)
  const lines: string[] = []
  for (let at = 0, line = 0; at < length; line++) {
    const text = `${seed}.${line} ${FILLER.slice((line * 7) % 40)}`
    lines.push(text)
    at += text.length + 1
  }
  return lines.join('\n').slice(0, length)
}

const FILLER = 'was read, checked and compared with what the other files say about it, and nothing was odd there'

/** Replays a conversation through the real loop, with tools and a model that are as large as the recorded ones. */
export async function replay(segment: Segment, policy: Policy, price: Price): Promise<Replayed> {
  const clock = startClock()
  try {
    const player = createPlayer(segment, policy, clock)
    const session = createSession()
    const bound = createPrompt(segment, player)
    const options = policy.options(price)
    let folds = 0
    for (let input = 0; player.isLeft(); input++) {
      await runAgent(bound, {
        adapter: player.adapter,
        session,
        counter,
        input: createText(`input${input}`, Math.max(player.getInput(), 4)),
        maxTurns: 100_000,
        maxCallsPerReply: 10_000,
        ...options,
        onEvent: (event) => {
          if (event.type === 'results/folded' && event.reason !== 'large') folds++
        },
      })
    }
    return { ...player.getResult(session.get(agentRun).messages), folds }
  } finally {
    clock.stop()
  }
}

interface Clock {
  advance(seconds: number): void
  now(): number
  stop(): void
}

/** The time that passed between two recorded replies passes in no time. */
function startClock(): Clock {
  const { now } = Date
  let time = now()
  Date.now = () => time
  return {
    advance(seconds) {
      time += seconds * 1_000
    },
    now: () => time,
    stop() {
      Date.now = now
    },
  }
}

function createPrompt({ base, turns }: Segment, player: Player) {
  const names = new Set(turns.flatMap(({ results = [] }) => results.map(([, tool]) => tool)))
  const tools = [...names].map((name) =>
    defineTool({
      name: toToolName(name),
      description: 'Stands in for a tool.',
      params: { type: 'object' },
      execute: (args) => ok(player.getResultText(Number((args as { readonly n: unknown }).n))),
    }),
  )
  const template = createText('base', base / SCALE).replaceAll('$', '')
  return definePrompt({
    ns: 'bench',
    key: 'long',
    sections: [defineSection({ key: 'task', title: 'Task', template, tools })],
  }).bind({})
}

const toToolName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)

interface Player {
  readonly adapter: ProviderAdapter
  isLeft(): boolean
  /** The tokens of the user's text before the next reply. */
  getInput(): number
  getResultText(number: number): string
  getResult(messages: readonly Message[]): Omit<Replayed, 'folds'>
}

/** Plays the recorded replies, and reads what it needs of folded results before each. */
function createPlayer({ turns }: Segment, policy: Policy, clock: Clock): Player {
  const sizes = turns.flatMap(({ results = [] }) => results.map(([tokens]) => tokens))
  const texts = sizes.map((tokens, n) => createText(`r${n}`, tokens))
  const callIds: string[] = []
  const bill = createBill(clock)
  let next = 0
  let hasWaited = false
  let readBacks = 0
  let needs = 0
  let reached = 0
  let inOneCall = 0
  let wanted: readonly MissingNeed[] = []
  const complete = async ({ system, messages, tools, addedTools }: ChatRequest): Promise<ChatReply> => {
    const definitions = [...tools, ...addedTools.values()].map((tool) => tool.name).join(' ')
    const inputTokens = bill.add([system, definitions], messages)
    const usage = { ...NO_USAGE, inputTokens, outputTokens: 50 }
    const asked = wanted
    wanted = []
    for (const need of asked) {
      const read = readAnswer(messages, asked, need)
      if (need.part === 1 && read.isWhole) inOneCall++
      if (read.isWhole) reached++
      else if (read.isFound) wanted = [...wanted, { ...need, part: need.part + 1, from: read.next }]
    }
    if (asked.length === 0) {
      wanted = findMissing(turns[next], messages, { callIds, texts })
      if (wanted.length > 0) readBacks++
      needs += wanted.length
      if (!policy.hasHandles) wanted = []
    }
    if (wanted.length > 0) return { message: readAgain(wanted, next), usage }
    hasWaited = false
    return { message: reply(turns, next++, callIds), usage }
  }
  return {
    adapter: chatAdapter({ name: 'bench', model: 'bench', complete }),
    isLeft: () => next < turns.length,
    getInput() {
      wait()
      return turns[next]?.in ?? 0
    },
    getResultText(number) {
      wait()
      return texts[number] ?? ''
    },
    getResult: (messages) => ({
      ...bill.get(),
      turns: turns.length,
      readBacks,
      needs,
      reached,
      inOneCall,
      lost: countLost(messages, { callIds, texts }),
    }),
  }
  /** The gap before a reply passes while its tools run or its user writes. */
  function wait(): void {
    if (!hasWaited) clock.advance(turns[next]?.gap ?? 0)
    hasWaited = true
  }
}

interface MissingNeed {
  readonly handle: string
  /** The lines that the model still needs: from one, up to another. */
  readonly from: number
  readonly to: number
  readonly lines: readonly string[]
  /** The number of the call that reads them: one answer may not hold all. */
  readonly part: number
}

interface Played {
  readonly callIds: readonly string[]
  readonly texts: readonly string[]
}

/** Finds the needs of a reply that the model cannot read in its messages. */
function findMissing(
  turn: RecordedTurn | undefined,
  messages: readonly Message[],
  { callIds, texts }: Played,
): readonly MissingNeed[] {
  const sent = new Map(messages.flatMap((one) => (one.role === 'tool' ? [[one.callId, one.text] as const] : [])))
  const found: MissingNeed[] = []
  for (const [n, characters] of turn?.needs ?? []) {
    const text = texts[n]
    const callId = callIds[n]
    if (text === undefined || callId === undefined || sent.get(callId) === text) continue
    const shown = sent.get(callId) ?? ''
    const lines = text.split('\n')
    const count = Math.min(lines.length, Math.max(1, Math.ceil((characters * lines.length) / text.length)))
    const from = Math.max(1, Math.floor((lines.length - count) / 2))
    const needed = lines.slice(from - 1, from - 1 + count)
    if (needed.every((line) => shown.includes(line))) continue
    const handle = /read_result\("(r\d+)"\)|result: '(r\d+)'/.exec(shown)
    const name = handle?.[1] ?? handle?.[2] ?? 'none'
    found.push({ handle: name, from, to: from + count - 1, lines, part: 1 })
  }
  return found
}

/** Compares the answer of `read_result` with the lines that were asked for. */
function readAnswer(
  messages: readonly Message[],
  asked: readonly MissingNeed[],
  need: MissingNeed,
): { readonly isFound: boolean; readonly isWhole: boolean; readonly next: number } {
  const answer = messages.slice(-asked.length)[asked.indexOf(need)]
  const text = answer?.role === 'tool' ? answer.text : ''
  let next = need.from
  while (next <= need.to && text.includes(need.lines[next - 1] ?? '')) next++
  return { isFound: next > need.from, isWhole: next > need.to, next }
}

/** Counts the results of the conversation that are not what the tools returned. */
function countLost(messages: readonly Message[], { callIds, texts }: Played): number {
  const kept = new Map(messages.flatMap((one) => (one.role === 'tool' ? [[one.callId, one.text] as const] : [])))
  return callIds.filter((callId, n) => (kept.get(callId) ?? texts[n]) !== texts[n]).length
}

function readAgain(missing: readonly MissingNeed[], turn: number): ChatReply['message'] {
  const toolCalls = missing.map(({ handle, from, to, part }, i): ToolCall => ({
    id: `read-${turn}-${part}-${i}`,
    name: 'read_result',
    arguments: { result: handle, from, count: to - from + 1 },
  }))
  return { role: 'assistant', text: '', toolCalls }
}

/** The recorded reply. A user's text in the middle of a turn stands with the reply before it, which never folds either. */
function reply(turns: readonly RecordedTurn[], at: number, callIds: string[]): ChatReply['message'] {
  const { out = 0, results = [] } = turns[at] ?? {}
  const heard = results.length > 0 ? (turns[at + 1]?.in ?? 0) : 0
  const toolCalls = results.map(([, tool]): ToolCall => {
    const n = callIds.length
    callIds.push(`call-${n}`)
    return { id: `call-${n}`, name: toToolName(tool), arguments: { n } }
  })
  return { role: 'assistant', text: createText(`reply${at}`, out + heard), toolCalls }
}

interface Bill {
  /** Adds a request, and returns its tokens. */
  add(start: readonly string[], messages: readonly Message[]): number
  get(): Pick<Replayed, 'billed' | 'peak'>
}

/** Bills requests at every price, with a cache of the last request's beginning. */
function createBill(clock: Clock): Bill {
  const sizes = new WeakMap<Message, number>()
  const billed = new Map(PRICES.map(({ name }) => [name, 0]))
  let peak = 0
  let before: readonly Message[] = []
  let startBefore = ''
  let last = -Infinity
  const measure = (message: Message): number => {
    const size = sizes.get(message) ?? counter.count(JSON.stringify(message))
    sizes.set(message, size)
    return size
  }
  return {
    add(start, messages) {
      const head = counter.count(start.join('\n'))
      const isSameStart = startBefore === start[0]
      startBefore = start[0] ?? ''
      let common = isSameStart ? head : 0
      let total = head
      let isCommon = isSameStart
      for (const [i, message] of messages.entries()) {
        const size = measure(message)
        total += size
        isCommon &&= isSame(message, before[i])
        if (isCommon) common += size
      }
      for (const { name, read, write, ttlMs } of PRICES) {
        const cached = clock.now() - last >= ttlMs ? 0 : common
        billed.set(name, (billed.get(name) ?? 0) + read * cached + write * (total - cached))
      }
      before = [...messages]
      last = clock.now()
      peak = Math.max(peak, total)
      return total
    },
    get: () => ({ billed, peak }),
  }
}

function isSame(one: Message, other: Message | undefined): boolean {
  if (one === other) return true
  if (one.role === 'tool' && other?.role === 'tool') return one.callId === other.callId && one.text === other.text
  return other !== undefined && JSON.stringify(one) === JSON.stringify(other)
}
