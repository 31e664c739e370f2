import { createMemoryStore, createSession, definePrompt, defineSection, defineTool, ok } from 'foldout'
import type { ProviderAdapter } from 'foldout/adapter'
import { calls, says, scriptedAdapter } from 'foldout/testing'
import * as z from 'zod'

const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refund an order.',
  params: z.object({ order: z.string() }),
  execute: ({ order }) => ok(`Order ${order} is refunded.`),
})
const refunds = defineSection({
  key: 'refunds',
  title: 'Refunds',
  template: 'Refund orders within 30 days.',
  summary: 'The refund policy.',
  visibility: 'summary',
  tools: [refundOrder],
})
export const bound = definePrompt({ ns: 'desk', key: 'support', sections: [refunds] }).bind({})
export const session = createSession()
export const store = createMemoryStore()

/** Opens the policy, refunds the order and answers, on every run. */
const script = [
  calls('read_section', { section_key: 'refunds' }),
  calls('refund_order', { order: 'A-17' }),
  says('Order A-17 is refunded.'),
]
let scripted = scriptedAdapter([])
export const adapter: ProviderAdapter = {
  name: 'scripted',
  model: 'scripted',
  supportsDynamicTools: true,
  refuseInput: () => undefined,
  evaluate(evaluation) {
    const last = evaluation.messages.at(-1)
    if (last?.role === 'user') scripted = scriptedAdapter(script)
    return scripted.evaluate(evaluation)
  },
}

/** The user whose session a request may continue. */
export const getUser = async (_request: Request): Promise<string> => 'ada'
