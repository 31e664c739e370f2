import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import * as z from 'zod'

export const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refund an order: the customer gets the money back.',
  params: z.object({ order: z.string() }),
  execute: ({ order }) => ok(`Order ${order} is refunded.`),
})
const refunds = defineSection({
  key: 'refunds',
  title: 'Refunds',
  template: 'Refund orders within 30 days.',
  summary: 'The refund policy.',
  visibility: 'summary',
})
export const bound = definePrompt({ ns: 'desk', key: 'support', sections: [refunds] }).bind({})
