// What the bridges run: a desk with two folded sections, two arms, two cases, and a model that stands in for yours.
import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import type { CompareArm, CompareCase } from 'foldout/compare'
import { calls, says, scriptedAdapter } from 'foldout/testing'

const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refunds an order.',
  execute: () => ok('Refunded.'),
})
const prompt = definePrompt({
  ns: 'examples',
  key: 'evaluated-desk',
  sections: [
    defineSection({ key: 'intro', title: 'Intro', template: 'You answer the customers of a shop.' }),
    defineSection({
      key: 'refunds',
      title: 'Refunds',
      template: 'Refund every order that is younger than 30 days.',
      summary: 'How to give money back.',
      visibility: 'summary',
      tools: [refundOrder],
    }),
    defineSection({
      key: 'hours',
      title: 'Hours',
      template: 'The shop is open from nine to six.',
      summary: 'When the shop is open.',
      visibility: 'summary',
    }),
  ],
}).bind()

export const cases: readonly CompareCase[] = [
  { id: 'refund', input: 'I want my money back.', needs: ['refunds'], calls: [{ name: 'refund_order' }] },
  { id: 'hours', input: 'When are you open?', needs: ['hours'], includes: 'nine' },
]

const refunds = [calls('refund_order'), says('It is refunded.')]

/** Opens what refunds need. The hours it only knows if they are open. Stands in for `openai({ model })`. */
const createModel = (isOpen: boolean, { id }: CompareCase) => {
  if (id === 'hours') return scriptedAdapter([says(isOpen ? 'From nine to six.' : 'From ten, I think.')])
  return scriptedAdapter(isOpen ? refunds : [calls('read_section', { section_key: 'refunds' }), ...refunds])
}

export const arms = {
  full: { prompt, open: 'all', adapter: ({ case: task }) => createModel(true, task) },
  folded: { prompt, adapter: ({ case: task }) => createModel(false, task) },
} satisfies Record<string, CompareArm>
