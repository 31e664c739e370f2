import assert from 'node:assert/strict'
import { createMemoryStore, openSession, runAgent, type TokenCounter } from 'foldout'
import type { ModelStep } from '../../packages/foldout/src/testing/adapter-peer.ts'
import { startMockProvider } from '../../test/providers/mock.ts'
import { goal, progress, type Goal, type Row } from '../report.ts'
import { measureHits, READ_RATE, type Hit, type Piece } from './caches.ts'
import { CHAT_PROVIDERS, type ChatProvider } from './providers.ts'
import { CHAT, chatPrompt, type ChatStep } from './script.ts'

export const CHAT_AGENT = `chat of ${CHAT.length} turns`
const LEAST_HIT = 0.95

/** The totals of a whole conversation. */
interface Conversation {
  readonly requests: number
  readonly input: number
  /** Billed with the provider's cache, in tokens at the full price. */
  readonly billed: number
  /** From the second turn on: the share of all input tokens that the cache had. */
  readonly hit: number
  /** From the second turn on: the share of each request's tokens that the next one begins with. */
  readonly kept: number
}

/** The same chat with folded sections and with everything in full, on each provider. */
export async function computeChatCosts(
  counter: TokenCounter,
): Promise<{ readonly rows: readonly Row[]; readonly goals: readonly Goal[] }> {
  const rows: Row[] = []
  const goals: Goal[] = []
  for (const provider of CHAT_PROVIDERS) {
    progress(`${CHAT_AGENT}, ${provider.name} ...`)
    const full = await hold(provider, { isFolded: false, counter })
    const folded = await hold(provider, { isFolded: true, counter })
    rows.push(toRow(provider, 'everything-in-full', full))
    rows.push({ ...toRow(provider, 'readSection', folded), ...getSavings(folded, full) })
    goals.push(...getGoals(provider, folded, full))
  }
  return { rows, goals }
}

function getGoals({ name, isNative }: ChatProvider, folded: Conversation, full: Conversation): readonly Goal[] {
  // A growing tool list invalidates what comes after it, which only the provider could change.
  if (!isNative) return []
  const chat = `${CHAT_AGENT}, ${name}`
  const turns = `turns 2 to ${CHAT.length}`
  return [
    goal(`${chat}: prefix hit, share of all input tokens of ${turns}`, folded.hit, '>=', LEAST_HIT),
    // Opened text is new once, so the share of all tokens is always higher in full. Only what was sent before is comparable.
    goal(`${chat}: prefix hit, share of the tokens sent before, ${turns}`, folded.kept, '>=', full.kept),
    goal(`${chat}: billed, as a share of everything in full`, folded.billed / full.billed, '<=', 1),
  ]
}

function toRow({ name }: ChatProvider, strategy: string, conversation: Conversation): Row {
  const { requests, input, billed, hit, kept } = conversation
  return {
    agent: CHAT_AGENT,
    strategy,
    adapter: name,
    requests,
    uncached: input,
    billed: Math.round(billed),
    hit: percent(hit),
    kept: percent(kept),
  }
}

function getSavings(folded: Conversation, full: Conversation): Row {
  return {
    uncachedSaving: percent(1 - folded.input / full.input),
    billedSaving: percent(1 - folded.billed / full.billed),
  }
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`

interface HoldOptions {
  readonly isFolded: boolean
  readonly counter: TokenCounter
}

async function hold(provider: ChatProvider, options: HoldOptions): Promise<Conversation> {
  const hits = measureHits(await recordChat(provider, options), provider.cache, options.counter)
  const first = CHAT[0]?.steps.flatMap((step) => toModelSteps(step, options.isFolded)).length ?? 0
  return summarize(hits, first, provider.cache.writeRate)
}

/** Holds the conversation over HTTP, and returns its requests. To the session, every turn is in a new process. */
export async function recordChat(
  provider: ChatProvider,
  { isFolded, counter }: HoldOptions,
): Promise<readonly (readonly Piece[])[]> {
  const turns = CHAT.map(({ steps }) => steps.flatMap((step) => toModelSteps(step, isFolded)))
  const mock = await startMockProvider([...provider.refusals, ...turns.flat()])
  const store = createMemoryStore()
  const adapter = provider.createAdapter(mock.url)
  const everything = Object.fromEntries(chatPrompt.render().nodes.map(({ path }) => [path, 'full'] as const))
  try {
    for (const { input } of CHAT) {
      const session = await openSession({ store, id: 'chat' })
      const shown = isFolded ? {} : { visibility: everything }
      const { status } = await runAgent(chatPrompt, { adapter, session, input, ...shown })
      assert.equal(status, 'completed')
      await session.saved()
    }
  } finally {
    await mock.stop()
  }
  const bodies = mock.requests.slice(provider.refusals.length).map(({ body }) => body)
  assert.equal(bodies.length, turns.flat().length, `${provider.name} was sent more requests than the model answered.`)
  return toCountable(bodies).map((body) => provider.readPieces(body, counter))
}

type Body = Readonly<Record<string, unknown>>

// Ids, and reasoning that only the provider can read.
const MADE_UP = new Set(['id', 'call_id', 'tool_call_id', 'tool_use_id', 'encrypted_content'])

/** Replaces what the mock invents by short values that are the same in every run of the bench. */
function toCountable(bodies: readonly Body[]): readonly Body[] {
  const ids = new Map<unknown, string>()
  const rename = (id: unknown): string => {
    const name = ids.get(id) ?? `call-${ids.size + 1}`
    ids.set(id, name)
    return name
  }
  const replace = (key: string, value: unknown): unknown => (MADE_UP.has(key) ? rename(value) : value)
  return bodies.map((body) => JSON.parse(JSON.stringify(body), replace) as Body)
}

function toModelSteps(step: ChatStep, isFolded: boolean): readonly ModelStep[] {
  if (!('opens' in step)) return [step]
  const calls = step.opens.map((key) => ({ name: 'read_section', arguments: { section_key: key } }))
  return isFolded ? [{ calls }] : []
}

function summarize(hits: readonly Hit[], first: number, writeRate: number): Conversation {
  const later = hits.slice(first)
  const total = (list: readonly Hit[], field: keyof Hit): number => list.reduce((sum, hit) => sum + hit[field], 0)
  const input = total(hits, 'input')
  const cached = total(hits, 'cached')
  return {
    requests: hits.length,
    input,
    billed: cached * READ_RATE + (input - cached) * writeRate,
    hit: total(later, 'cached') / total(later, 'input'),
    kept: total(later, 'kept') / total(later, 'before'),
  }
}
