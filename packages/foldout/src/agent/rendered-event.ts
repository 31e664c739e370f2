import type { RenderedPrompt } from '../prompt/render/rendered-prompt.ts'
import type { AgentEvent } from './events.ts'

/** Describes a render for listeners. What takes time is computed on demand. */
export function describeRendered(
  rendered: RenderedPrompt,
  tools: readonly string[],
  system?: string,
): Extract<AgentEvent, { type: 'prompt/rendered' }> {
  return {
    type: 'prompt/rendered',
    tools,
    full: rendered.nodes.filter((node) => node.visibility === 'full').map(({ path }) => path),
    summarized: rendered.summarized,
    get tokens() {
      return rendered.tokens
    },
    get tokensIfAllOpen() {
      return rendered.tokensIfAllOpen
    },
    get prompt() {
      return `${rendered.descriptor.ns}/${rendered.descriptor.key}`
    },
    get text() {
      return system ?? rendered.text
    },
    get toolsInFolds() {
      return Object.fromEntries(rendered.toolsInFolds)
    },
  }
}
