import { expect } from 'vitest'
import fc from 'fast-check'
import { agentRun, estimatedTokens, type Message } from '../entries/index.ts'
import type { SessionStore } from '../entries/session.ts'
import { READ_RESULT } from '../entries/results.ts'
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

/** What holds for every conversation, whatever happens in it. */
export type Property = (played: Played, refold: { readonly keepTurns: number }) => void | Promise<void>

/** Checks properties of generated conversations, whose sessions are kept in one of the stores, or in none. */
export async function checkConversations(
  properties: readonly Property[],
  { stores, numRuns }: { readonly stores: readonly (SessionStore | undefined)[]; readonly numRuns: number },
): Promise<void> {
  const places = fc.record({ store: fc.constantFrom(...stores), addsTools: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(happenings, refoldOptions, places, async (steps, refold, { store, addsTools }) => {
      const played = await play(steps, { refold, contextWindow: WINDOW }, { ...(store && { store }), addsTools })
      for (const property of properties) await property(played, refold)
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

export const PROPERTIES: Readonly<Record<string, Property>> = {
  async 'R68 every handle gives the original bytes'({ session, texts }) {
    const { messages } = session.get(agentRun)
    const results = messages.filter((message) => message.role === 'tool')
    for (const [at, { callId, text }] of results.entries()) {
      const original = texts.get(callId)
      if (original === undefined) continue
      expect(text).toBe(original)
      expect(await readWhole(messages, `r${at + 1}`)).toBe(original)
    }
  },

  'R67 another process projects the same bytes from the log'({ session, requests }) {
    const state = session.get(agentRun)
    const projected = projectAgain(state)
    const last = requests.at(-1)
    expect(projected.slice(0, last?.messages.length)).toEqual(last?.messages)
  },

  'R69 nothing before the first folded result changes, and nothing at all without a fold'({ requests }) {
    for (const [i, after] of requests.slice(1).entries()) {
      const before = requests[i]
      const at = before && findChange(before, after)
      if (!before || at === undefined) continue
      expect(after.folds).toBeGreaterThan(before.folds)
      const changed = before.messages[at]
      const isSummary = at === 0 || changed?.role !== 'tool'
      expect(isSummary || getText(changed) !== getText(after.messages[at])).toBe(true)
    }
  },

  'R67 each call has exactly one result, right behind its reply'({ requests }) {
    expect(requests.map(({ messages }) => findUnpaired(messages)).filter(Boolean)).toEqual([])
  },

  'R71 what is open is there word for word, with its tools'({ requests }) {
    for (const { system, messages, tools, open } of requests) {
      const all = [system, ...messages.map(getText)].join('\n')
      expect(open.filter((key) => !all.includes(getBody(key)) || !tools.includes(`use_${key}`))).toEqual([])
    }
  },

  'R69 what was read back stays as long as young results do'({ requests }, { keepTurns }) {
    const early = requests.flatMap(({ messages }) => listFoldedReadings(messages).filter((age) => age < keepTurns))
    expect(early).toEqual([])
  },

  'R72 every request fits the window'({ requests }) {
    const sizes = requests.map(({ messages }) => estimatedTokens.count(JSON.stringify(messages)))
    expect(Math.max(0, ...sizes)).toBeLessThan(WINDOW)
  },
}
