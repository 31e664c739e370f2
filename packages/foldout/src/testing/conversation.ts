import { executeTool } from '../tools/execute.ts'
import type { Filesystem } from '../files/filesystem.ts'
import { fail, type ToolResult } from '../tools/result.ts'
import type { AnyTool } from '../tools/tool.ts'
import type { DisclosureStrategy } from '../disclosure/strategy.ts'
import type { BoundPrompt } from '../prompt/prompt.ts'
import type { RenderedPrompt } from '../prompt/render/rendered-prompt.ts'
import type { Session } from '../session/session.ts'
import { visibility } from '../session/visibility.ts'

export interface ConversationOptions {
  readonly bound: Pick<BoundPrompt, 'render'>
  readonly session: Session
  readonly disclosure: DisclosureStrategy
  /** Whether tools can be added without rendering the prompt anew, as with an adapter that supports dynamic tools. */
  readonly dynamicTools: boolean
  readonly filesystem?: Filesystem
}

/** A conversation without a model: you call the tools, and openings take effect as they would in a run. */
export interface Conversation {
  /** The prompt as last rendered. */
  readonly rendered: RenderedPrompt
  /** Every tool the model may call by now. */
  readonly tools: ReadonlyMap<string, AnyTool>
  /** Every text that has been put before the model, in order. */
  readonly texts: readonly string[]
  /** How often the prompt was rendered anew. */
  readonly restarts: number
  call(name: string, args: unknown): Promise<ToolResult>
}

export function createConversation(options: ConversationOptions): Conversation {
  const { bound, session, disclosure, dynamicTools, filesystem } = options
  const tools = new Map<string, AnyTool>()
  const texts: string[] = []
  let restarts = 0
  let rendered: RenderedPrompt
  const render = (): void => {
    rendered = bound.render({ session, disclosure })
    texts.push(rendered.text)
    for (const tool of rendered.tools) tools.set(tool.name, tool)
  }
  render()
  return {
    get rendered() {
      return rendered
    },
    get restarts() {
      return restarts
    },
    tools,
    texts,
    async call(name, args) {
      const tool = tools.get(name)
      if (!tool) return fail(`There is no tool '${name}'.`)
      const signal = new AbortController().signal
      const result = await executeTool(tool, args, {
        session,
        signal,
        deadline: undefined,
        filesystem,
        prompt: rendered,
      })
      if (!result.ok || !result.opening) {
        texts.push(result.message)
        return result
      }
      const { paths, tools: added, halts } = result.opening
      for (const path of paths) session.dispatch(visibility.events.set({ path, visibility: 'full' }))
      if (halts || (added.length > 0 && !dynamicTools)) {
        restarts += 1
        render()
      } else {
        texts.push(result.message)
        for (const injected of added) if (!tools.has(injected.name)) tools.set(injected.name, injected)
      }
      return result
    },
  }
}
