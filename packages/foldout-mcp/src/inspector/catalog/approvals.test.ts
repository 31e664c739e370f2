import { describe, expect, it } from 'vitest'
import type { WaitingCall, WaitingCalls } from '../../gateway/gateway.ts'
import { createApprovalSource } from './approvals.ts'

/** As a database keeps them: the time that is left is counted each time they are read. */
function keepCalls(...calls: WaitingCall[]): WaitingCalls & { readonly approved: string[] } {
  let reads = 0
  const approved: string[] = []
  return {
    approved,
    list: async () => calls.map((call) => ({ ...call, expiresAt: call.expiresAt + ++reads })),
    async approve(id) {
      approved.push(id)
      return calls[0] as WaitingCall
    },
    deny: () => Promise.reject(new Error('It was approved.')),
  }
}

const CALL: WaitingCall = {
  id: 'a1',
  preset: '',
  tool: 'shop/refund_order',
  arguments: '{"order":"A-1"}',
  askedAt: '2026-11-17T12:00:00.000Z',
  expiresAt: 1e12,
}

describe('R59 calls that wait for the user', () => {
  it('are approved as they were shown, whatever clock counts the time that is left', async () => {
    const kept = keepCalls(CALL)
    const { handlers } = createApprovalSource(kept)
    const [shown] = (await handlers['approvals/list']?.({})) ?? []
    await handlers['approvals/answer']?.({ id: 'a1', seen: shown?.seen ?? '', isApproved: true })
    expect(kept.approved).toEqual(['a1'])
  })

  it('are not approved if what waits is not what was shown', async () => {
    const [shown] = (await createApprovalSource(keepCalls(CALL)).handlers['approvals/list']?.({})) ?? []
    const kept = keepCalls({ ...CALL, arguments: '{"order":"A-2"}' })
    const answer = createApprovalSource(kept).handlers['approvals/answer']
    await expect(answer?.({ id: 'a1', seen: shown?.seen ?? '', isApproved: true })).rejects.toThrow(
      'is no longer waiting',
    )
    expect(kept.approved).toEqual([])
  })
})
