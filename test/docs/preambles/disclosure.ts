import { definePrompt, defineSection } from 'foldout'

const refunds = defineSection({
  key: 'refunds',
  title: 'Refunds',
  template: 'Refund orders within 30 days.',
  summary: 'The refund policy.',
  visibility: 'summary',
})
export const bound = definePrompt({ ns: 'desk', key: 'support', sections: [refunds] }).bind({})
