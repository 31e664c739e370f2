import type { Tool } from 'ai'
import { definePrompt, defineSection, defineTool, ok } from 'foldout'
import type { ProviderAdapter } from 'foldout/adapter'
import type { RawTool } from 'foldout/catalog'
import type { McpClient } from 'foldout/mcp'
import { calls, says, scriptedAdapter, type ScriptStep } from 'foldout/testing'

export declare const tools: readonly RawTool[]
export declare const client: McpClient

const refunds = defineSection({
  key: 'refunds',
  title: 'Refunds',
  template: 'Refund orders within 30 days.',
  summary: 'The refund policy.',
  visibility: 'summary',
  tools: [defineTool({ name: 'refund_order', description: 'Refund an order.', execute: () => ok('Refunded.') })],
})
export const bound = definePrompt({ ns: 'desk', key: 'support', sections: [refunds] }).bind({})

/** A model that knows only what its conversation says. */
export const adapter: ProviderAdapter = {
  name: 'scripted',
  model: 'scripted',
  supportsDynamicTools: true,
  evaluate: (evaluation) => scriptedAdapter(getScript(JSON.stringify(evaluation.messages))).evaluate(evaluation),
}

function getScript(conversation: string): readonly ScriptStep[] {
  if (conversation.includes('Refunded.')) return [says('Within five days.')]
  if (!conversation.includes('A-17')) return [says('Yes, eleven kinds.')]
  return [calls('read_section', { section_key: 'refunds' }), calls('refund_order'), says('Order A-17 is refunded.')]
}

export declare const model: object
export declare const checkpointer: object
export declare const lookUp: Tool
