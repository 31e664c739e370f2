import { defineTool, ok } from 'foldout'
import { says, scriptedAdapter } from 'foldout/testing'

export const refundPolicy = 'Refund orders within 30 days.'
export const findOrder = defineTool({ name: 'find_order', description: 'Find an order.', execute: () => ok('A-17') })
export const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refund an order.',
  execute: () => ok('Refunded.'),
})
export const adapter = scriptedAdapter([says('Of course.')])
