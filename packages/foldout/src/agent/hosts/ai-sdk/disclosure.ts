import type { ToolSet } from 'ai'
import { loadAi } from '../../../adapters/ai-sdk/package.ts'
import { FoldoutError } from '../../../core/errors.ts'
import { describeFoldedTool } from '../../../disclosure/hints.ts'
import { applyOpening, chooseAnswer } from '../../../disclosure/opening.ts'
import type { Filesystem } from '../../../files/filesystem.ts'
import type { BoundPrompt, RenderOptions } from '../../../prompt/prompt.ts'
import type { RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { Session, SessionReader } from '../../../session/session.ts'
import { visibility, type Visibility, type VisibilityOverrides } from '../../../session/visibility.ts'
import type { ToolSuccess } from '../../../tools/result.ts'
import type { AnyTool } from '../../../tools/tool.ts'
import { createToolWrapper } from './wrap-tool.ts'

/**
 * Options of {@link createDisclosure}: the prompt, and the options of a render.
 *
 * @example
 * ```ts
 * const options: AiSdkDisclosureOptions = { prompt: bound, session, disclosure: readSection({ showCost: true }) }
 * const disclosure = await createDisclosure(options)
 * ```
 */
export interface AiSdkDisclosureOptions extends Omit<RenderOptions, 'session'> {
  readonly prompt: Pick<BoundPrompt, 'render'>
  /** The session that records which sections the model has opened. */
  readonly session: Session
  /** The filesystem of the prompt's tools. */
  readonly filesystem?: Filesystem
  /** Your own tools, which are always offered in addition to those of the prompt. */
  readonly tools?: ToolSet
  /**
   * Whether the output of a disclosure tool is the section's text, which `toUIMessageStream` sends to the browser. By
   * default, the output is a short notice, and only the model reads the text.
   */
  readonly showTextInOutput?: boolean
}

/**
 * The settings for one step of the AI SDK's loop.
 *
 * @example
 * ```ts
 * const { prepareStep } = await createDisclosure({ prompt: bound, session: createSession() })
 * const settings: StepSettings = prepareStep()
 * settings.activeTools // => [ 'look', 'read_section' ]
 * ```
 */
export interface StepSettings {
  /** The tools disclosed so far. */
  activeTools: string[]
  /** The newly rendered prompt, if an opening required a new render. */
  system?: string
}

/**
 * Settings for `generateText` and `streamText`. Spread them into your own.
 *
 * @example
 * ```ts
 * const disclosure: AiSdkDisclosure = await createDisclosure({ prompt: bound, session: createSession() })
 * disclosure.activeTools // => [ 'look', 'read_section' ]
 * await generateText({ model, ...disclosure, prompt: 'Go.' })
 * ```
 */
export interface AiSdkDisclosure {
  readonly system: string
  /**
   * All tools of the prompt, including folded ones. Opened tools move to the end, so the offered list only grows there.
   */
  readonly tools: ToolSet
  /** The tools offered in the first step. */
  readonly activeTools: string[]
  prepareStep(this: void): StepSettings
  /** Answers a call of a tool that is not open yet with instructions to open its section. */
  experimental_repairToolCall(this: void, options: { readonly toolCall: { readonly toolName: string } }): Promise<null>
}

/**
 * Runs a prompt in the AI SDK's own loop, where the model opens the sections it needs. Create a new one for each call;
 * the session records which sections are open.
 *
 * @example
 * const disclosure = await createDisclosure({ prompt: bound, session })
 * const { text } = await generateText({ model, ...disclosure, prompt: 'Go.', stopWhen: stepCountIs(20) })
 */
export async function createDisclosure(options: AiSdkDisclosureOptions): Promise<AiSdkDisclosure> {
  const { prompt: bound, session, filesystem, tools: own = {}, showTextInOutput = false, ...renderOptions } = options
  const ai = await loadAi()
  const render = (): RenderedPrompt => bound.render({ ...renderOptions, session })
  const first = render()
  let rendered = first
  let mustRender = false
  const take = ({ opening }: ToolSuccess): void => {
    if (!opening) return
    if (chooseAnswer(opening, true) === 'restart') mustRender = true
    applyOpening(session, opening)
  }
  const wrap = createToolWrapper(ai, {
    showText: (name) => showTextInOutput || !first.disclosure.toolNames.includes(name),
    getContext: () => ({ session, deadline: options.deadline, filesystem, prompt: rendered }),
    onSuccess: take,
  })
  const offer = createOffer(own, findEveryTool(bound, session, renderOptions), wrap)
  offer.disclose(first.tools)
  return {
    system: first.text,
    tools: offer.tools,
    activeTools: [...offer.active],
    prepareStep() {
      const now = render()
      // Every visible tool can be called, however it became visible.
      offer.disclose(now.tools)
      if (mustRender) rendered = now
      mustRender = false
      return { activeTools: [...offer.active], ...(rendered === first ? {} : { system: rendered.text }) }
    },
    experimental_repairToolCall({ toolCall: { toolName } }) {
      const now = render()
      const path = now.toolsInFolds.get(toolName)
      if (path === undefined || offer.active.has(toolName)) return Promise.resolve(null)
      return Promise.reject(new FoldoutError('tool-not-disclosed', describeFoldedTool(toolName, path, now)))
    },
  }
}

interface ToolOffer {
  /** All tools; disclosed ones move to the end. */
  readonly tools: ToolSet
  /** The names of the offered tools. */
  readonly active: ReadonlySet<string>
  disclose(tools: readonly AnyTool[]): void
}

function createOffer(own: ToolSet, all: readonly AnyTool[], wrap: (tool: AnyTool) => ToolSet[string]): ToolOffer {
  const tools: ToolSet = { ...own }
  const active = new Set(Object.keys(own))
  for (const tool of all) {
    if (Object.hasOwn(own, tool.name)) throw createNameError(tool.name)
    tools[tool.name] = wrap(tool)
  }
  return {
    tools,
    active,
    disclose(disclosed) {
      for (const tool of disclosed) {
        if (active.has(tool.name)) continue
        // A section may have been enabled since all tools were looked up.
        const offered = tools[tool.name] ?? wrap(tool)
        delete tools[tool.name]
        tools[tool.name] = offered
        active.add(tool.name)
      }
    },
  }
}

function createNameError(name: string): FoldoutError {
  return new FoldoutError(
    'tool-name-taken',
    `Both the prompt and the tools given to createDisclosure() have a tool '${name}'. Rename one of them.`,
  )
}

/**
 * Finds every tool that a prompt can offer in a session, including the strategy's: opens folded sections level by
 * level, as the model could. The session does not change.
 */
function findEveryTool(
  bound: Pick<BoundPrompt, 'render'>,
  session: SessionReader,
  options: Omit<RenderOptions, 'session'>,
): readonly AnyTool[] {
  const tools = new Map<string, AnyTool>()
  const opened: Record<string, Visibility> = {}
  for (;;) {
    const rendered = bound.render({ ...options, session: addOpened(session, opened) })
    for (const tool of rendered.tools) if (!tools.has(tool.name)) tools.set(tool.name, tool)
    const folded = rendered.summarized.filter((path) => opened[path] === undefined)
    if (folded.length === 0) return [...tools.values()]
    for (const path of folded) opened[path] = 'full'
  }
}

/** Returns a session with more sections open. */
function addOpened(session: SessionReader, opened: VisibilityOverrides): SessionReader {
  const overrides = { ...session.get(visibility), ...opened }
  return {
    has: (slice) => session.has(slice),
    get: (slice) => (slice.name === visibility.name ? (overrides as never) : session.get(slice)),
  }
}
