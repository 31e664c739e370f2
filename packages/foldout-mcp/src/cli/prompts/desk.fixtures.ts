import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import * as z from 'zod'

const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refund an order in full.',
  params: z.object({ order: z.string() }),
  execute: ({ order }) => ok(`Order ${order} is refunded.`),
})

const role = defineSection({ key: 'role', title: 'Role', template: 'You answer customers of ${shop}.' })
const vouchers = defineSection({
  key: 'vouchers',
  title: 'Vouchers',
  template: 'A voucher is refunded as a voucher.',
  summary: 'What to do about vouchers.',
  visibility: 'summary',
})
const refunds = defineSection({
  key: 'refunds',
  title: 'Refunds',
  template: 'Refund an order with refund_order if it was delivered at most 30 days ago. Do not ask why.',
  summary: 'The refund policy.',
  visibility: 'summary',
  tools: [refundOrder],
  children: [vouchers],
})

/** A prompt that needs a value. */
export const support = definePrompt({ ns: 'desk', key: 'support', sections: [role, refunds] })
/** A prompt that folds nothing. */
export const greeter = definePrompt({ ns: 'desk', key: 'greeter', sections: [role] })
/** The same prompt with its value bound. */
export const clerk = support.bind({ shop: 'Lampworks' })
