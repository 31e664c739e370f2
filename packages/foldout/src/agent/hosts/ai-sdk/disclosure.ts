import type { ToolSet } from 'ai'
import { FoldoutError } from '../../../core/errors.ts'
import type { BoundPrompt, RenderOptions } from '../../../prompt/prompt.ts'
import type { RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { Session } from '../../../session/session.ts'
import { visibility } from '../../../session/visibility.ts'
import { executeTool } from '../../../tools/execute.ts'
import type { Filesystem } from '../../../files/filesystem.ts'
import type { Opening } from '../../../tools/result.ts'
import type { AnyTool } from '../../../tools/tool.ts'
import { everyTool } from './every-tool.ts'
import { loadAi, schemaFor } from '../../../adapters/ai-sdk/package.ts'
import { createTurnstile } from './turnstile.ts'

export interface AiSdkDisclosureOptions extends Omit<RenderOptions, 'session'> {
  readonly bound: Pick<BoundPrompt, 'render'>
  /** Holds what the model has opened. */
  readonly session: Session
  /** Where the prompt's tools read and write files. */
  readonly filesystem?: Filesystem
  /** Your own tools, which are offered all the time beside those of the prompt. */
  readonly tools?: ToolSet
}

/** What a step of the AI SDK's loop is told. */
export interface StepSettings {
  /** The tools disclosed by now. */
  activeTools: string[]
  /** The prompt as it is rendered since an opening asked for that. */
  system?: string
}

/** Settings for `generateText` and `streamText`, to be spread into theirs. */
export interface AiSdkDisclosure {
  readonly system: string
  /** All tools the prompt has, folded ones too. Those that are opened move to the end, so that the list offered only grows there. */
  readonly tools: ToolSet
  /** The tools offered in the first step. */
  readonly activeTools: string[]
  prepareStep(this: void): StepSettings
  /** Answers a call of a tool that is not disclosed yet with how to disclose it. */
  experimental_repairToolCall(this: void, options: { readonly toolCall: { readonly toolName: string } }): Promise<null>
}

/**
 * Puts a prompt into the AI SDK's own loop, where the model opens what it needs:
 * `generateText({ model, ...(await createDisclosure({ bound, session })), prompt: '…', stopWhen: stepCountIs(20) })`.
 * Make a new one for each call; what was opened is in the session.
 */
export async function createDisclosure(options: AiSdkDisclosureOptions): Promise<AiSdkDisclosure> {
  const { bound, session, filesystem, tools: own = {}, ...renderOptions } = options
  const ai = await loadAi()
  const render = (): RenderedPrompt => bound.render({ ...renderOptions, session })
  const first = render()
  let rendered = first
  let mustRender = false

  const turnstile = createTurnstile()
  const executable = (tool: AnyTool): ToolSet[string] =>
    ai.dynamicTool({
      description: tool.description,
      inputSchema: schemaFor(ai, tool.inputSchema),
      async execute(input, { abortSignal }) {
        const signal = abortSignal ?? new AbortController().signal
        const context = { session, signal, deadline: options.deadline, filesystem, prompt: rendered }
        const result = await turnstile(tool, () => executeTool(tool, input, context))
        // Thrown, so that the SDK marks the result as an error; the model reads the message as it is.
        if (!result.ok) throw new FoldoutError('tool-failed', result.message)
        if (result.opening) apply(result.opening)
        return result.message
      },
    })

  const tools: ToolSet = { ...own }
  const active = new Set(Object.keys(own))
  for (const tool of everyTool(bound, session, renderOptions)) {
    if (Object.hasOwn(own, tool.name)) throw nameTaken(tool.name)
    tools[tool.name] = executable(tool)
  }
  function disclose(disclosed: readonly AnyTool[]): void {
    for (const tool of disclosed) {
      if (active.has(tool.name)) continue
      // A section may have been enabled since all tools were looked up.
      const offered = tools[tool.name] ?? executable(tool)
      delete tools[tool.name]
      tools[tool.name] = offered
      active.add(tool.name)
    }
  }
  function apply({ paths, tools: added, halts }: Opening): void {
    if (halts) mustRender = true
    else disclose(added)
    for (const path of paths) session.dispatch(visibility.events.set({ path, visibility: 'full' }))
  }
  disclose(first.tools)

  return {
    system: first.text,
    tools,
    activeTools: [...active],
    prepareStep() {
      if (mustRender) {
        mustRender = false
        rendered = render()
        disclose(rendered.tools)
      }
      return { activeTools: [...active], ...(rendered === first ? {} : { system: rendered.text }) }
    },
    experimental_repairToolCall({ toolCall }) {
      const now = render()
      const path = now.toolsInFolds.get(toolCall.toolName)
      if (path === undefined || active.has(toolCall.toolName)) return Promise.resolve(null)
      return Promise.reject(new FoldoutError('tool-not-disclosed', howToDisclose(toolCall.toolName, path, now)))
    },
  }
}

function howToDisclose(tool: string, path: string, { tools, nodes }: RenderedPrompt): string {
  const ofSections = new Set(nodes.flatMap((node) => node.tools.map(({ name }) => name)))
  const opening = tools.filter(({ name }) => !ofSections.has(name)).map(({ name }) => `\`${name}\``)
  return `Tool '${tool}' belongs to the section '${path}', which is not open yet. Open that section with ${opening.join(' or ')} first.`
}

function nameTaken(name: string): FoldoutError {
  return new FoldoutError(
    'tool-name-taken',
    `Both the prompt and the tools given to createDisclosure() have a tool '${name}'. Rename one of them.`,
  )
}
