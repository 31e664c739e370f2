import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentRun, createMemoryStore, estimatedTokens, type Message } from '../entries/index.ts'
import { decideFold, READ_RESULT, type FoldQuestion } from '../entries/results.ts'
import {
  findUnpaired,
  getBody,
  happenings,
  play,
  projectAgain,
  readWhole,
  refoldOptions,
  type Played,
  type SentRequest,
} from './refold-runs.fixtures.ts'

const WINDOW = 14_000
const stores = [undefined, 'memory'] as const
const runs = fc.tuple(happenings, refoldOptions, fc.constantFrom(...stores))

/** Checks a property of generated conversations. */
async function check(
  property: (played: Played, refold: { readonly keepTurns: number }) => void | Promise<void>,
  numRuns = 30,
) {
  await fc.assert(
    fc.asyncProperty(runs, async ([steps, refold, store]) => {
      const kept = store ? { store: createMemoryStore() } : {}
      await property(await play(steps, { refold, contextWindow: WINDOW }, kept), refold)
    }),
    { numRuns },
  )
}

const getText = (message: Message | undefined): string => (message && 'text' in message ? message.text : '')
const isSame = (one: Message, other: Message | undefined): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Where a request no longer equals the one before it; undefined if it only goes on. */
function findChange(before: SentRequest, after: SentRequest): number | undefined {
  const at = before.messages.findIndex((message, i) => !isSame(message, after.messages[i]))
  return at === -1 ? undefined : at
}

/** The ages of the folded results of `read_result`, in replies. */
function listFoldedReadings(messages: readonly Message[]): readonly number[] {
  return messages.flatMap((message, at) => {
    if (message.role !== 'tool' || message.name !== READ_RESULT || !message.text.startsWith('[Part of ')) return []
    return [messages.slice(at).filter(({ role }) => role === 'assistant').length]
  })
}

describe('generated long conversations, with kills, resumes and user turns', () => {
  it('R68 every handle gives the original bytes', async () => {
    await check(async ({ session, texts }) => {
      const { messages } = session.get(agentRun)
      const results = messages.filter((message) => message.role === 'tool')
      for (const [at, { callId, text }] of results.entries()) {
        const original = texts.get(callId)
        if (original === undefined) continue
        expect(text).toBe(original)
        expect(await readWhole(messages, `r${at + 1}`)).toBe(original)
      }
    }, 15)
  })

  it('R67 another process projects the same bytes from the log', async () => {
    await check(({ session, requests }) => {
      const state = session.get(agentRun)
      const projected = projectAgain(state)
      const last = requests.at(-1)
      expect(projected.slice(0, last?.messages.length)).toEqual(last?.messages)
    })
  })

  it('R69 nothing before the first folded result changes, and nothing at all without a fold', async () => {
    await check(({ requests }) => {
      for (const [i, after] of requests.slice(1).entries()) {
        const before = requests[i]
        const at = before && findChange(before, after)
        if (!before || at === undefined) continue
        expect(after.folds).toBeGreaterThan(before.folds)
        const changed = before.messages[at]
        const isSummary = at === 0 || changed?.role !== 'tool'
        expect(isSummary || getText(changed) !== getText(after.messages[at])).toBe(true)
      }
    })
  })

  it('R67 each call has exactly one result, right behind its reply', async () => {
    await check(({ requests }) => {
      expect(requests.map(({ messages }) => findUnpaired(messages)).filter(Boolean)).toEqual([])
    })
  })

  it('R71 what is open is there word for word, with its tools', async () => {
    await check(({ requests }) => {
      for (const { system, messages, tools, open } of requests) {
        const all = [system, ...messages.map(getText)].join('\n')
        expect(open.filter((key) => !all.includes(getBody(key)) || !tools.includes(`use_${key}`))).toEqual([])
      }
    })
  })

  it('R69 what was read back stays as long as young results do', async () => {
    expect.hasAssertions()
    await check(({ requests }, { keepTurns }) => {
      const early = requests.flatMap(({ messages }) => listFoldedReadings(messages).filter((age) => age < keepTurns))
      expect(early).toEqual([])
    })
  })

  it('R72 every request fits the window', async () => {
    await check(({ requests }) => {
      const sizes = requests.map(({ messages }) => estimatedTokens.count(JSON.stringify(messages)))
      expect(Math.max(0, ...sizes)).toBeLessThan(WINDOW)
    })
  })

  it('R69 a fold is never followed by another one without news', () => {
    const results = fc.array(
      fc.record({ tokens: fc.nat(20_000), age: fc.nat(40), isReadBack: fc.boolean(), isSpent: fc.boolean() }),
      { maxLength: 40 },
    )
    const numbers = fc.record({
      start: fc.nat(50_000),
      at: fc.integer({ min: 1_000, max: 120_000 }),
      turns: fc.nat(60),
    })
    fc.assert(
      fc.property(
        results,
        numbers,
        fc.boolean(),
        fc.option(fc.integer({ min: 5_000, max: 200_000 }), { nil: undefined }),
        fc.record({ leastTurns: fc.integer({ min: 1, max: 10 }), cacheRead: fc.constantFrom(0.025, 0.1, 0.5) }),
        (list, { start, at, turns }, isCold, window, more) => {
          const ask = (sizes: readonly number[]): FoldQuestion => {
            let before = start
            const all = list.map((one, i) => {
              const tokens = sizes[i] ?? 0
              const result = { ...one, callId: `c${i}`, tokens, stubTokens: 30, before }
              before += tokens
              return result
            })
            return {
              context: before,
              window,
              at,
              turns,
              isCold,
              keepTurns: 10,
              minTokens: 300,
              cacheWrite: 1.25,
              results: all,
              ...more,
            }
          }
          const first = decideFold(ask(list.map(({ tokens }) => tokens)))
          const folded = new Set(first?.callIds)
          const again = decideFold(ask(list.map(({ tokens }, i) => (folded.has(`c${i}`) ? 30 : tokens))))
          expect(again?.callIds.filter((id) => folded.has(id)) ?? []).toEqual([])
          expect(first !== undefined && again !== undefined && window === undefined).toBe(false)
        },
      ),
    )
  })
})
