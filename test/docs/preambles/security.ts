import { definePrompt, defineSection, defineTool, ok, type AnyTool } from 'foldout'
import { calls, says, scriptedAdapter } from 'foldout/testing'

const findOrder = defineTool({
  name: 'find_order',
  description: 'Find an order.',
  execute: () => ok('It is on its way.'),
})
const deleteOrder = defineTool({ name: 'delete_order', description: 'Delete an order.', execute: () => ok('Deleted.') })
export const tools = [findOrder, deleteOrder]

/** A prompt with one tool. */
export const createPrompt = (tool: AnyTool) =>
  definePrompt({
    ns: 'desk',
    key: 'support',
    sections: [defineSection({ key: 'role', title: 'Role', template: 'You help customers.', tools: [tool] })],
  }).bind({})
export const bound = createPrompt(findOrder)

export const adapter = scriptedAdapter([calls('delete_account', { customer: 'ada' }), says('Deleted.')])
/** Calls the tool again and again. */
export const busy = scriptedAdapter([calls('find_order'), calls('find_order'), says('Found.')])
