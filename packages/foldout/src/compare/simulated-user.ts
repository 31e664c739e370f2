import type { ProviderAdapter } from '../adapters/contract.ts'
import { runAgent } from '../agent/loop/run-agent.ts'
import { defineParams } from '../core/schema/schema.ts'
import { defineSection } from '../prompt/definition/section.ts'
import { definePrompt } from '../prompt/prompt.ts'
import type { SimulatedUser, UserTalk } from './contract/arms.ts'

const DONE = '###DONE###'

const role = defineSection({
  key: 'role',
  title: 'Your part',
  params: defineParams<{ readonly story: string }>(),
  template: `You play a person who writes to an assistant. Write only what the person says next, in one short message. Know and want only what the story says. Do not help the assistant, and do not invent facts.

The story: \${story}

When the person has what they want, or sees that they will not get it, write only ${DONE}`,
})
const prompt = definePrompt({ ns: 'foldout', key: 'simulated-user', sections: [role] })

/**
 * A user whom a second model plays, by the story in `user` of each case. What it costs is part of the budget.
 *
 * @example
 * ```ts
 * const user: SimulatedUser = simulateUser(() => scriptedAdapter([says('Refund order 17, please.')]))
 * ```
 */
export function simulateUser(createAdapter: () => ProviderAdapter | Promise<ProviderAdapter>): SimulatedUser {
  return async (talk) => {
    const { case: task, signal, spend } = talk
    const { text, usage } = await runAgent(prompt.bind({ story: task.user ?? '' }), {
      adapter: await createAdapter(),
      input: describeTalk(talk),
      signal,
    })
    spend(usage)
    const isOver = text.trim() === '' || text.includes(DONE)
    if (isOver) return undefined
    return text.trim()
  }
}

function describeTalk({ said, answers }: UserTalk): string {
  if (said.length === 0) return 'The conversation has not begun. Write the first message.'
  const turns = said.flatMap((each, i) => [`Person: ${each}`, `Assistant: ${answers[i] ?? ''}`])
  return `The conversation so far:\n\n${turns.join('\n\n')}\n\nWrite the next message.`
}
