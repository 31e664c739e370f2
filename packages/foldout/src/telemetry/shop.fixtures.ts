import { runAgent } from '../agent/loop/run-agent.ts'
import type { AgentOptions, AgentResult } from '../agent/options.ts'
import type { TokenCounter } from '../core/tokens/tokens.ts'
import { definePrompt, type BoundPrompt } from '../prompt/prompt.ts'
import { defineSection } from '../prompt/definition/section.ts'
import type { Visibility } from '../session/visibility.ts'
import { countedAdapter as scriptedAdapter } from '../testing/counted.fixtures.ts'
import type { ScriptStep, ScriptedOptions } from '../testing/scripted-adapter.ts'
import { fail, ok } from '../tools/result.ts'
import { defineTool } from '../tools/tool.ts'

/** One token per word, so a text costs as much as its parts. */
export const words: TokenCounter = {
  name: 'words',
  exact: true,
  count: (text) => text.split(/\s+/).filter((word) => word !== '').length,
}

const look = defineTool({ name: 'look', description: 'Looks at the shelf.', execute: () => ok('Seen.') })
const spoil = defineTool({ name: 'spoil', description: 'Spoils.', execute: () => fail('It would not.') })
const add = defineTool({ name: 'add', description: 'Adds to the cart.', execute: () => ok('Added to it.') })
const clear = defineTool({ name: 'clear', description: 'Clears.', execute: () => ok('Empty now.') })

/** A shop with a folded cart that has tools, folded rules, and an open history. */
export function shop(
  options: {
    readonly cart?: Visibility
    /** The visibility of the coupons in the cart, and of the rules. */
    readonly others?: Visibility
    readonly cartText?: string
    readonly rulesText?: string
  } = {},
): BoundPrompt<{}> {
  return definePrompt({
    ns: 'shops',
    key: 'shop',
    sections: [
      defineSection({ key: 'intro', title: 'Intro', template: 'You keep a shop.', tools: [look, spoil] }),
      defineSection({
        key: 'cart',
        title: 'Cart',
        template: options.cartText ?? 'The cart holds what the customer wants to buy today.',
        summary: 'About the cart.',
        visibility: options.cart ?? 'summary',
        tools: [add, clear],
        children: [
          defineSection({
            key: 'coupons',
            title: 'Coupons',
            template: 'A coupon takes ten percent off.',
            summary: 'About coupons.',
            visibility: options.others ?? 'summary',
          }),
        ],
      }),
      defineSection({
        key: 'rules',
        title: 'Rules',
        template: options.rulesText ?? 'Be kind to everybody.',
        summary: 'The rules.',
        visibility: options.others ?? 'summary',
      }),
      defineSection({
        key: 'history',
        title: 'History',
        template: 'The shop was founded long ago by two sisters who sold tea, and later also cakes.',
        summary: 'Where it came from.',
      }),
    ],
  }).bind()
}

export interface ShopRun extends Partial<Omit<AgentOptions, 'adapter'>> {
  readonly bound?: BoundPrompt<{}>
  readonly scripted?: ScriptedOptions
}

/** Runs the shop on a scripted model. The id of the conversation, which differs from run to run, is left out. */
export async function runShop(script: readonly ScriptStep[], options: ShopRun = {}): Promise<AgentResult> {
  const { bound = shop(), scripted, ...rest } = options
  const run = { adapter: scriptedAdapter(script, scripted), input: 'Sell me a cake.', ...rest }
  const result = await runAgent(bound, run)
  return { ...result, state: { ...result.state, id: '' } }
}
