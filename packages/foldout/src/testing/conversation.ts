import { executeTool } from '../tools/execute.ts'
import type { Filesystem } from '../files/filesystem.ts'
import { fail, type ToolResult } from '../tools/result.ts'
import type { AnyTool } from '../tools/tool.ts'
import { applyOpening, chooseAnswer, getNewTools } from '../disclosure/opening.ts'
import { describeFoldedTool, describeUnknownTool } from '../disclosure/hints.ts'
import type { DisclosureStrategy } from '../disclosure/strategy.ts'
import type { BoundPrompt } from '../prompt/prompt.ts'
import type { RenderedPrompt } from '../prompt/render/rendered-prompt.ts'
import type { Session } from '../session/session.ts'

/**
 * The options of {@link createConversation}.
 *
 * @example
 * ```ts
 * const options: ConversationOptions = { bound, session: createSession(), disclosure: openSections(), dynamicTools: false }
 * const conversation = createConversation(options)
 * await conversation.open(['guide'])
 * conversation.restarts // => 1
 * ```
 */
export interface ConversationOptions {
  readonly bound: Pick<BoundPrompt, 'render'>
  readonly session: Session
  readonly disclosure: DisclosureStrategy
  /** Whether tools can be added without a restart, as with an adapter that supports dynamic tools. */
  readonly dynamicTools: boolean
  readonly filesystem?: Filesystem
}

/**
 * A conversation without a model: you call the tools, and openings take effect as in a run.
 *
 * @example
 * ```ts
 * const conversation: Conversation = createConversation({ bound, session: createSession(), disclosure: readSection(), dynamicTools: true })
 * await conversation.open(['refunds'])
 * conversation.tools.has('refund_order') // => true
 * conversation.restarts // => 0
 * ```
 */
export interface Conversation {
  /** The prompt as last rendered. */
  readonly rendered: RenderedPrompt
  /** Every tool that the model may call now. */
  readonly tools: ReadonlyMap<string, AnyTool>
  /** Every text that the model has been shown, in order. */
  readonly texts: readonly string[]
  /** How often the prompt was rendered again. */
  readonly restarts: number
  call(name: string, args: unknown): Promise<ToolResult>
  /** Opens sections with the calls from the strategy's `getCalls`, one after another. */
  open(keys: readonly string[]): Promise<readonly ToolResult[]>
}

/**
 * Creates a conversation without a model, to test a strategy or a prompt call by call.
 *
 * @example
 * ```ts
 * const conversation = createConversation({ bound, session: createSession(), disclosure: readSection(), dynamicTools: true })
 * await conversation.open(['guide'])
 * ```
 */
export function createConversation(options: ConversationOptions): Conversation {
  const { bound, session, disclosure, dynamicTools, filesystem } = options
  const tools = new Map<string, AnyTool>()
  const texts: string[] = []
  let restarts = -1
  let rendered: RenderedPrompt
  const render = (): RenderedPrompt => bound.render({ session, disclosure })
  const restart = (): void => {
    restarts += 1
    rendered = render()
    texts.push(rendered.text)
    for (const tool of rendered.tools) tools.set(tool.name, tool)
  }
  /** Makes every visible tool callable, however it became visible. */
  const show = (mustRestart: boolean): void => {
    const added = getNewTools(render(), tools)
    if (mustRestart || (added.length > 0 && !dynamicTools)) restart()
    else for (const tool of added) tools.set(tool.name, tool)
  }
  const getTool = (name: string): AnyTool | string => {
    const now = render()
    const tool = tools.get(name) ?? now.tools.find((candidate) => candidate.name === name)
    if (tool) return tool
    const path = now.toolsInFolds.get(name)
    if (path === undefined) return describeUnknownTool(name, tools.keys(), now)
    return describeFoldedTool(name, path, now)
  }
  async function call(name: string, args: unknown): Promise<ToolResult> {
    const tool = getTool(name)
    if (typeof tool === 'string') return fail(tool)
    const { signal } = new AbortController()
    const result = await executeTool(tool, args, { session, signal, deadline: undefined, filesystem, prompt: rendered })
    const opening = result.ok ? result.opening : undefined
    const isRestart = opening !== undefined && chooseAnswer(opening, dynamicTools) === 'restart'
    if (opening) applyOpening(session, opening)
    if (!isRestart) texts.push(result.message)
    show(isRestart)
    return result
  }
  restart()
  return {
    get rendered() {
      return rendered
    },
    get restarts() {
      return restarts
    },
    tools,
    texts,
    call,
    async open(keys) {
      const calls = disclosure.getCalls?.(render().view, keys) ?? []
      const results: ToolResult[] = []
      for (const { name, arguments: args } of calls) results.push(await call(name, args))
      return results
    },
  }
}
