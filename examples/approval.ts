// A refund that a person has to approve: the run pauses, the process ends, and another process continues with the answer.
import assert from 'node:assert/strict'
import {
  createMemoryStore,
  definePrompt,
  defineSection,
  defineSlice,
  defineTool,
  ok,
  openSession,
  runAgent,
  type AgentResult,
  type ApprovalAnswer,
  type ApprovalRequest,
} from 'foldout'
import { callsAll, says, scriptedAdapter } from 'foldout/testing'
import * as z from 'zod'

const refunds = defineSlice({
  name: 'refunds',
  initial: [] as readonly string[],
  reducers: { made: (orders, order: string) => [...orders, order] },
})

const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refund an order.',
  params: z.object({ order: z.string(), amount: z.number() }),
  needsApproval: ({ amount }) => amount > 100 && `${amount} is more than a clerk may refund.`,
  execute({ order, amount }, { session }) {
    session.dispatch(refunds.events.made(order))
    return ok(`Refunded ${amount} for order ${order}.`)
  },
})
const deleteAccount = defineTool({
  name: 'delete_account',
  description: 'Delete the account of a customer.',
  params: z.object({ customer: z.string() }),
  annotations: { destructiveHint: true },
  execute: ({ customer }) => ok(`${customer} is gone.`),
})
const desk = defineSection({
  key: 'desk',
  title: 'Desk',
  template: 'You answer the customers of a lamp shop.',
  tools: [refundOrder, deleteAccount],
})
const bound = definePrompt({ ns: 'shops', key: 'desk', sections: [desk] }).bind()

const store = createMemoryStore()
const adapter = scriptedAdapter([
  callsAll(
    ['refund_order', { order: 'A-1', amount: 20 }],
    ['refund_order', { order: 'A-2', amount: 900 }],
    ['delete_account', { customer: 'Bo' }],
  ),
  says('Both orders are refunded. The account stays.'),
])

/** What each process does: it opens the session, and continues with people's answers. */
async function go(options: { readonly input?: string; readonly approvals?: readonly ApprovalAnswer[] }) {
  const session = await openSession({ store, id: 'ann', slices: [refunds] })
  const result: AgentResult = await runAgent(bound, {
    adapter,
    session,
    // For tools that do not declare approval themselves, such as those of MCP servers.
    needsApproval: ({ annotations }) => annotations?.destructiveHint === true && 'It cannot be undone.',
    ...options,
  })
  await session.saved()
  return { result, refunded: session.get(refunds) }
}

const paused = await go({ input: 'Refund A-1 and A-2, and delete my account.' })
assert.equal(paused.result.status, 'waiting')
// The small refund needed no approval.
assert.deepEqual(paused.refunded, ['A-1'])

// An application shows this to a person, or puts it in a queue. It is plain JSON.
const inbox = JSON.parse(JSON.stringify(paused.result.approvals)) as readonly ApprovalRequest[]
for (const { tool, arguments: args, reason, section } of inbox) {
  console.log(`${section}: may ${tool} run with ${JSON.stringify(args)}? ${reason}`)
}
assert.deepEqual(
  inbox.map(({ reason }) => reason),
  ['900 is more than a clerk may refund.', 'It cannot be undone.'],
)

const [large, deletion] = inbox
assert(large && deletion)
const approvals = [
  { ...large, approved: true },
  { ...deletion, approved: false, reason: 'Ask the customer by mail first.' },
]
const done = await go({ approvals })
assert.equal(done.result.status, 'completed')
assert.deepEqual(done.refunded, ['A-1', 'A-2'])
for (const message of done.result.messages) if (message.role === 'tool') console.log(`  ${message.text}`)
console.log(done.result.text)

// An answer counts once.
await assert.rejects(go({ approvals }), { code: 'approval-used' })
assert.deepEqual((await go({})).refunded, ['A-1', 'A-2'])
adapter.assertDone()
