import { describe, expect, it } from 'vitest'
import { chatAdapter, NO_USAGE } from '../../entries/adapter.ts'
import { estimatedTokens, type Message } from '../../entries/index.ts'
import { Log } from '../../session/log.ts'
import { createContextCount } from './context-count.ts'
import { toRefoldTerms } from './options.ts'
import type { FoldedResult } from './projection.ts'
import { createRefold } from './refold.ts'

const LONG = 100

/** A conversation in which all results but the last hundred are folded. Counts how often a result is asked about. */
function createConversation(turns: number) {
  let asked = 0
  const messages = Array.from({ length: turns }, (_, n): readonly Message[] => [
    { role: 'assistant', text: '', toolCalls: [{ id: `c${n}`, name: 'get', arguments: { n } }] },
    { role: 'tool', callId: `c${n}`, name: 'get', text: `report ${n}: ${'late. '.repeat(300)}`, isError: false },
  ]).flat()
  const folded = Array.from({ length: turns - LONG }, (_, n): FoldedResult => ({ callId: `c${n}`, form: 'old' }))
  const state = { log: Log.of<Message>(messages), folded, summary: null, usage: NO_USAGE, repliedAt: null }
  const adapter = chatAdapter({
    name: 'a',
    model: 'a',
    complete: () => Promise.reject(new Error('No request is sent.')),
  })
  const refold = createRefold({
    terms: toRefoldTerms({ at: 1_000 }, { window: undefined, adapter }),
    isOn: true,
    leavesClosed: true,
    window: undefined,
    adapter,
    beforeRequest: undefined,
    context: createContextCount(estimatedTokens, () => ({ system: '', version: 1, listTools: () => [] })),
    getState: () => state,
    isDisclosure() {
      asked++
      return false
    },
    createClosedCheck: () => () => false,
    findUnused: () => [],
    findClosable: () => [],
  })
  return { refold, countAsked: () => asked }
}

describe('R72 what a reply costs', () => {
  it.each([250, 2_000])('does not depend on how many results were folded before: %d turns', async (turns) => {
    const { refold, countAsked } = createConversation(turns)
    await refold.decide([])
    expect(refold.describeContext().results).toBeGreaterThan(10_000)
    expect(countAsked()).toBeLessThan(3 * LONG)
  })
})
