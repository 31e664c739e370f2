import { describe, expect, it } from 'vitest'
import type { CallResult } from 'foldout/catalog'
import { createCall, PAID, readText, type Meeting } from '../call/call.fixtures.ts'
import type { Call, Stage } from '../call/call.ts'
import { approve } from './approve.ts'
import { decide } from './decide.ts'
import { toStage } from './own-stage.ts'
import { recheck } from './recheck.ts'
import { takeQuota } from './take-quota.ts'

/** Runs one stage; the stages after it send the call. */
async function run(stage: Stage, meeting: Meeting = {}) {
  const { call } = createCall(meeting)
  const passed: Call[] = []
  const result = await stage(call, async (next) => {
    passed.push(next)
    return PAID
  })
  return { result, record: call.record, passed }
}

describe('decide', () => {
  it('passes on what the rules allow, and what they leave to the user', async () => {
    for (const action of ['allow', 'ask'] as const) {
      const { passed, record } = await run(decide, { rules: [{ action, reason: 'because' }] })
      expect([passed.length, record.decision, record.refusal]).toEqual([1, { action, reason: 'because' }, undefined])
    }
  })

  it('stops what they deny, with the reason', async () => {
    const { passed, record, result } = await run(decide, { rules: [{ action: 'deny', reason: 'Too dear.' }] })
    expect([passed, record.refusal]).toEqual([[], 'denied'])
    expect(readText(result)).toBe("Tool 'bank/pay' was not run: a rule denies it. Too dear.")
  })
})

describe('approve', () => {
  const ask = async (meeting: Meeting) => {
    const { call } = createCall(meeting)
    call.record.decision = { action: 'ask', reason: undefined }
    const result = await approve(call, async () => PAID)
    return { result, record: call.record }
  }

  it('asks nobody about a call that the rules allow', async () => {
    const { passed } = await run(approve, {
      policy: {
        approvals: {
          run: () => {
            throw new Error('asked')
          },
        },
      },
    })
    expect(passed).toHaveLength(1)
  })

  it('knows whether the user approved, refused or has yet to answer', async () => {
    const answer = (result: CallResult) => ({ approvals: { run: async () => result } })
    expect((await ask({})).record.refusal).toBeUndefined()
    expect((await ask({ policy: answer({ content: [], isError: true }) })).record.refusal).toBe('not approved')
    const question = { resultType: 'input_required', content: [] }
    expect((await ask({ policy: answer(question) })).record.refusal).toBe('asked')
  })

  it('counts a call as not approved if its client leaves while the user is asked', async () => {
    const { call } = createCall({ policy: { approvals: { run: () => Promise.reject(new Error('gone')) } } })
    call.record.decision = { action: 'ask', reason: undefined }
    await expect(approve(call, async () => PAID)).rejects.toThrow('gone')
    expect(call.record.refusal).toBe('not approved')
  })
})

describe('takeQuota', () => {
  const quotas = (refusal: string | undefined) => ({
    quotas: { counts: () => true, take: async () => refusal, update: () => undefined, close: async () => undefined },
  })

  it('stops a call when its quota is used up', async () => {
    const { passed, record, result } = await run(takeQuota, { policy: quotas('the quota is used up.') })
    expect([passed, record.refusal]).toEqual([[], 'over quota'])
    expect(readText(result)).toBe("Tool 'bank/pay' was not run: the quota is used up.")
    expect((await run(takeQuota, { policy: quotas(undefined) })).passed).toHaveLength(1)
  })
})

describe('recheck', () => {
  const running = { name: 'pay', description: '' }
  const check = async (meeting: Meeting, decided: 'allow' | 'ask' = 'allow') => {
    const { call } = createCall(meeting)
    call.record.decision = { action: decided, reason: undefined }
    let why: string | undefined
    await recheck(call, async (next) => {
      why = next.check(running)
      return PAID
    })
    return { why, record: call.record }
  }
  const changed = { isHeld: false, changed: { annotations: { destructiveHint: true } } }

  it('lets a call through whose tool is defined as it was', async () => {
    expect((await check({ rules: [{ action: 'deny' }] })).why).toBeUndefined()
    expect((await check({ comparison: changed })).why).toBeUndefined()
  })

  it('holds a tool whose definition waits for the user', async () => {
    const { why, record } = await check({ comparison: { isHeld: true, changed: undefined } })
    expect(why).toBe(
      `its definition has changed, and waits for the user's approval. Ask the user to run "foldout pins".`,
    )
    expect(record.refusal).toBeUndefined()
  })

  it.each([
    ['deny', 'allow', 'denied', /a rule denies it now/],
    ['ask', 'allow', 'not approved', /the user has to approve it now/],
    ['ask', 'ask', 'not approved', /since the user approved the call/],
  ] as const)('stops a call that would now be a case for %s, after %s', async (action, before, refusal, words) => {
    const { why, record } = await check({ rules: [{ action }], comparison: changed }, before)
    expect(why).toMatch(words)
    expect(record).toMatchObject({ refusal, decision: { action } })
  })
})

describe('a stage of the user', () => {
  it('may change the arguments and nothing else', async () => {
    const { passed, record } = await run(
      toStage((call, next) => next({ ...call, path: 'bank/steal', preset: 'other', arguments: { amount: 1 } })),
    )
    expect(passed).toMatchObject([{ path: 'bank/pay', preset: 'work', arguments: { amount: 1 }, given: { amount: 3 } }])
    expect(record.arguments).toEqual({ amount: 1 })
  })

  it('may refuse a call, which counts as denied, or answer it', async () => {
    const refused = await run(toStage(async () => ({ content: [{ type: 'text', text: 'No.' }], isError: true })))
    expect([refused.passed, refused.record.refusal]).toEqual([[], 'denied'])
    const answered = await run(toStage(async () => PAID))
    expect([answered.result, answered.record.refusal]).toEqual([PAID, undefined])
  })

  it('does not count the failure of a call that it passed on as denied', async () => {
    const { call } = createCall()
    await toStage((given, next) => next(given))(call, async () => ({ content: [], isError: true }))
    expect(call.record.refusal).toBeUndefined()
  })
})
