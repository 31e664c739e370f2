import { definePrompt, defineSection } from 'foldout'
import { calls, says, scriptedAdapter } from 'foldout/testing'

const refunds = defineSection({
  key: 'refunds',
  title: 'Refunds',
  template: 'Refund orders within 30 days.',
  summary: 'The refund policy.',
  visibility: 'summary',
})
export const bound = definePrompt({ ns: 'desk', key: 'support', sections: [refunds] }).bind({})
export const adapter = scriptedAdapter([
  calls('open_sections', { section_keys: ['refunds'], reason: 'The customer wants a refund.' }),
  says('Done.'),
])
