import type { CallContext, CallResult } from 'foldout/catalog'
import { createMemoryStore } from 'foldout/session'
import { describe, expect, it } from 'vitest'
import type { Ask } from './callers.ts'
import { HeldCalls } from './held-calls.ts'
import { createHeldPost } from './held-post.ts'

const text = (value: string): CallResult => ({ content: [{ type: 'text', text: value }] })
const getText = ({ content: [part] }: CallResult): unknown => part?.['text']

/** Two gateways with one store. */
function stage() {
  const store = createMemoryStore()
  const create = () => new HeldCalls(createHeldPost(async () => store))
  return { store, one: create(), other: create() }
}
/** A call that asks the user for names, one after the other. */
const askNames =
  (count: number, started: string[] = []) =>
  async (_context: CallContext, ask: Ask): Promise<CallResult> => {
    started.push('started')
    const names: unknown[] = []
    for (let i = 0; i < count; i++) names.push((await ask('elicitation/create', { message: `Name ${i}?` }))['name'])
    return text(names.join(' and '))
  }
const answer = (asked: CallResult, name: unknown) => ({
  state: String(asked['requestState']),
  responses: Object.fromEntries(Object.keys(asked['inputRequests'] as object).map((id) => [id, { name }])),
})

describe('R65 a call held by one gateway and answered at another', () => {
  it('R65 continues where it is held, over several rounds and gateways, and leaves nothing behind', async () => {
    const { store, one, other } = stage()
    const started: string[] = []
    const first = await one.start('key', {}, askNames(3, started))
    expect(first['resultType']).toBe('input_required')
    const input = answer(first, 'Ann')
    expect([one.has(input), other.has(input)]).toEqual([true, true])
    const second = await other.resume('key', input, {})
    expect(second).toMatchObject({ resultType: 'input_required' })
    const third = await one.resume('key', answer(second, 'Bob'), {})
    expect(getText(await other.resume('key', answer(third, 'Cid'), {}))).toBe('Ann and Bob and Cid')
    expect(started).toHaveLength(1)
    await expect.poll(() => store.list()).toEqual([])
  })

  it('R65 takes the first of ten answers at two gateways', async () => {
    const { one, other } = stage()
    const asked = await one.start('key', {}, askNames(1))
    const ends = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? one : other).resume('key', answer(asked, `name ${i}`), {})),
    )
    const texts = ends.flatMap((end) => (end.status === 'fulfilled' && end.value.isError !== true ? [end.value] : []))
    expect(texts).toHaveLength(1)
  })

  it('R65 refuses other clients, another tool and an invented state', async () => {
    const { one, other, store } = stage()
    const asked = await one.start('mine', {}, askNames(1))
    expect(await other.resume('theirs', answer(asked, 'Eve'), {})).toMatchObject({ isError: true })
    const unknown = { state: `foldout-${crypto.randomUUID()}`, responses: {} }
    await expect(other.resume('mine', unknown, {})).rejects.toThrow('no longer waits')
    expect(other.has({ state: 'foldout-approval-x', responses: {} })).toBe(false)
    expect(JSON.stringify(await store.list())).not.toContain(String(asked['requestState']))
  })

  it('R65 passes on a failure, and turns a result that JSON cannot hold into one', async () => {
    for (const [outcome, expected] of [
      [async () => Promise.reject(new Error('The server is gone.')), 'The server is gone.'],
      [async () => ({ content: [], bad: Number.NaN }), 'which JSON cannot represent'],
    ] as const) {
      const { one, other } = stage()
      const asked = await one.start('key', {}, async (_context, ask) => {
        await ask('elicitation/create', {})
        return outcome()
      })
      const result = await other.resume('key', answer(asked, 'Ann'), {})
      expect(result.isError).toBe(true)
      expect(getText(result)).toContain(expected)
    }
  })

  it('R65 ends for a client that stops waiting', async () => {
    const { one, other } = stage()
    const asked = await one.start('key', {}, async (_context, ask) => {
      await ask('elicitation/create', {})
      return new Promise(() => undefined)
    })
    const stop = new AbortController()
    const waiting = other.resume('key', answer(asked, 'Ann'), { signal: stop.signal })
    setTimeout(() => stop.abort(), 400)
    await expect(waiting).rejects.toThrow('no longer waits')
  })
})
