import { createMemoryStore, definePrompt, defineSection } from 'foldout'
import { createLocalEngine, defineRun, type DurableRun } from 'foldout/durable'
import { says, scriptedAdapter } from 'foldout/testing'

const role = defineSection({ key: 'role', title: 'Role', template: 'You help customers.' })
export const bound = definePrompt({ ns: 'shop', key: 'support', sections: [role] }).bind()
export const adapter = scriptedAdapter([says('It is on its way.')])
const store = createMemoryStore()
export const support: DurableRun = defineRun({
  name: 'ready',
  engine: createLocalEngine(),
  store,
  prompt: bound,
  adapter,
})
