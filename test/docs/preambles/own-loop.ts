import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import type { HostCall, HostTool } from 'foldout/disclosure'
import * as z from 'zod'

const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refund an order.',
  params: z.object({ order: z.string() }),
  needsApproval: true,
  execute: ({ order }) => ok(`${order} is refunded.`),
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

interface Request {
  readonly system: string
  readonly messages: readonly { readonly role: string; readonly text: string }[]
  readonly tools: readonly HostTool[]
}

/** A model that opens the section, and refunds once it has the tool. */
export async function askModel(request: Request): Promise<{ text: string; calls: readonly HostCall[] }> {
  const { tools, messages } = request
  if (messages.some(({ text }) => text === 'A-17 is refunded.')) return { text: 'It is refunded.', calls: [] }
  const hasTool = tools.some(({ name }) => name === 'refund_order')
  const call = hasTool
    ? { id: 'call_2', name: 'refund_order', arguments: { order: 'A-17' } }
    : { id: 'call_1', name: 'read_section', arguments: { section_key: 'refunds' } }
  return { text: '', calls: [call] }
}
export const askPerson = async (_call: HostCall, _need: boolean | string): Promise<boolean> => true
