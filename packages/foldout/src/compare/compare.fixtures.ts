import { chatAdapter } from '../adapters/chat.ts'
import type { AssistantMessage, ChatRequest, ProviderAdapter } from '../adapters/contract.ts'
import { definePrompt, defineSection, defineTool, ok, type AnySection } from '../entries/index.ts'
import { createRandom } from './statistics/distributions.ts'
import type { CompareCase } from './contract/cases.ts'

const TOPICS = ['refunds', 'returns', 'cards'] as const
type Topic = (typeof TOPICS)[number]

function section(key: Topic): AnySection {
  const tool = defineTool({ name: `do_${key}`, description: `Does ${key}.`, execute: () => ok(`${key} are done.`) })
  return defineSection({
    key,
    title: `The ${key}`,
    template: `All rules of ${key}. ${'They are long and detailed. '.repeat(60)}`,
    summary: `Some words on ${key}.`,
    visibility: 'summary',
    tools: [tool],
  })
}

const role = defineSection({ key: 'role', title: 'Role', template: 'You serve the customers of a shop.' })
export const desk = definePrompt({ ns: 'test', key: 'desk', sections: [role, ...TOPICS.map(section)] }).bind()

/** Cases that each need one section. */
export function createCases(count: number): readonly CompareCase[] {
  return Array.from({ length: count }, (_, i): CompareCase => {
    const topic = TOPICS[i % TOPICS.length] ?? 'refunds'
    return { id: `${topic}-${i}`, input: `Please help me with ${topic}.`, calls: [{ name: `do_${topic}` }] }
  })
}

export interface ModelFlaw {
  /** How often the model does not open the section of refunds. */
  readonly misses?: number
  /** How often it does the wrong thing, whatever is open. */
  readonly errs?: number
  readonly seed?: number
  onRequest?(): unknown
}

/** A model that opens the section that a customer asks about, calls its tool and answers. */
export function createModel({ misses = 0, errs = 0, seed = 1, onRequest }: ModelFlaw = {}): ProviderAdapter {
  const random = createRandom(seed)
  const isMissed = random() < misses
  const isErring = random() < errs
  return chatAdapter({
    name: 'scripted',
    model: 'clerk',
    async complete(request) {
      await onRequest?.()
      const message = reply(request, { isMissed, isErring })
      const usage = { inputTokens: 900, outputTokens: 20, cachedInputTokens: 0, cacheWriteTokens: 0 }
      return { message, usage }
    },
  })
}

function reply(
  { messages, tools, addedTools }: ChatRequest,
  { isMissed, isErring }: { readonly isMissed: boolean; readonly isErring: boolean },
): AssistantMessage {
  const asked = messages.findLast(({ role: who }) => who === 'user')
  const text = asked?.role === 'user' ? asked.text : ''
  const topic = TOPICS.find((each) => text.includes(each)) ?? 'refunds'
  const call = (name: string, args: object): AssistantMessage => ({
    role: 'assistant',
    text: '',
    toolCalls: [{ id: `call-${messages.length}`, name, arguments: args }],
  })
  const say = (said: string): AssistantMessage => ({ role: 'assistant', text: said, toolCalls: [] })
  const last = messages.at(-1)
  const offered = new Set([...tools.map(({ name }) => name), ...addedTools.keys()])
  if (isErring) return say('I do not know.')
  if (last?.role === 'tool' && last.name === `do_${topic}`) return say('Done.')
  if (offered.has(`do_${topic}`)) return call(`do_${topic}`, {})
  if (isMissed && topic === 'refunds') return say('That is not possible.')
  return call('read_section', { section_key: topic })
}
