import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import { calls, says, scriptedAdapter } from 'foldout/testing'

const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refunds an order.',
  execute: () => ok('Refunded.'),
})
export const bound = definePrompt({
  ns: 'docs',
  key: 'compared',
  sections: [
    defineSection({ key: 'intro', title: 'Intro', template: 'You answer customers.' }),
    defineSection({
      key: 'refunds',
      title: 'Refunds',
      template: 'Refunds take three days.',
      summary: 'How refunds work.',
      visibility: 'summary',
      tools: [refundOrder],
    }),
  ],
}).bind()

/** A model that opens the section and refunds, whatever is asked. */
export const createModel = () =>
  scriptedAdapter([calls('read_section', { section_key: 'refunds' }), calls('refund_order'), says('We open at nine.')])
