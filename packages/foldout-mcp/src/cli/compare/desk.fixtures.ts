import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import { chatAdapter, type AssistantMessage } from 'foldout/adapter'
import type { RunStart } from 'foldout/compare'

const refundOrder = defineTool({
  name: 'refund_order',
  description: 'Refunds an order.',
  execute: () => ok('Refunded.'),
})
const role = defineSection({ key: 'role', title: 'Role', template: 'You answer customers.' })
const refunds = defineSection({
  key: 'refunds',
  title: 'Refunds',
  template: 'Refund with refund_order.',
  summary: 'How to refund.',
  visibility: 'summary',
  tools: [refundOrder],
})

export const clerk = definePrompt({ ns: 'desk', key: 'compared', sections: [role, refunds] }).bind()

/** A model that opens the section of refunds unless the case is odd, and refunds if it can. */
export const adapter = ({ case: { id } }: Pick<RunStart, 'case'>) =>
  chatAdapter({
    name: 'scripted',
    model: 'clerk',
    async complete({ tools, addedTools, messages }) {
      const say = (text: string): AssistantMessage => ({ role: 'assistant', text, toolCalls: [] })
      const call = (name: string, args: object): AssistantMessage => ({
        role: 'assistant',
        text: '',
        toolCalls: [{ id: `call-${messages.length}`, name, arguments: args }],
      })
      const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0 }
      const offered = new Set([...tools.map(({ name }) => name), ...addedTools.keys()])
      const last = messages.at(-1)
      if (last?.role === 'tool' && last.name === 'refund_order') return { message: say('Done.'), usage }
      if (offered.has('refund_order')) return { message: call('refund_order', {}), usage }
      if (Number(id) % 2 === 1) return { message: say('I cannot do that.'), usage }
      return { message: call('read_section', { section_key: 'refunds' }), usage }
    },
  })

export const arms = { 'in-full': { open: 'all', version: '2' } }
