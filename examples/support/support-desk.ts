// The agent that the examples share: a support desk with an open section, a folded text and a folded section with a tool.
import { definePrompt, defineSection, defineSlice, defineTool, ok } from 'foldout'
import { filesSection } from 'foldout/files'
import * as z from 'zod'

export const refunds = defineSlice({
  name: 'refunds',
  initial: [] as readonly string[],
  reducers: { made: (state, order: string) => [...state, order] },
})

const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refund an order in full.',
  params: z.object({ order: z.string().describe('The order number, such as A-17') }),
  execute: ({ order }, { session }) => {
    session.dispatch(refunds.events.made(order))
    return ok(`Order ${order} is refunded.`, { order })
  },
})

const sections = [
  defineSection({
    key: 'role',
    title: 'Role',
    template: 'You answer customers of ${shop}. Follow the policies, and use the tools they name.',
  }),
  defineSection({
    key: 'tone',
    title: 'Tone',
    template: 'Write two sentences at most. Name the order. Do not apologize twice.',
    summary: 'How to write to customers.',
    visibility: 'summary',
  }),
  defineSection({
    key: 'refunds',
    title: 'Refunds',
    template: 'An order is refunded within 30 days of delivery, with refund_order, without asking why.',
    summary: 'The refund policy, and the tool for refunds.',
    visibility: 'summary',
    tools: [refundOrder],
  }),
] as const

export const supportDesk = definePrompt({ ns: 'examples', key: 'support-desk', sections })

/** Includes tools to read files, for a strategy that writes sections to files. */
export const supportDeskWithFiles = definePrompt({
  ns: 'examples',
  key: 'support-desk-with-files',
  sections: [...sections, filesSection({ readOnly: true })],
})

export const question = 'My lamp of order A-17 came broken yesterday. I want my money back.'
