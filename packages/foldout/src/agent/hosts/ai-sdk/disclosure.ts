import type { LanguageModel, ModelMessage, ToolSet } from 'ai'
import { getAdditionStyle, type AdditionStyle } from '../../../adapters/ai-sdk/additions.ts'
import { loadAi } from '../../../adapters/ai-sdk/package.ts'
import type { Filesystem } from '../../../files/filesystem.ts'
import type { BoundPrompt, RenderOptions } from '../../../prompt/prompt.ts'
import type { OpenAhead } from '../../../disclosure/ahead/rule.ts'
import { FoldoutError } from '../../../core/errors.ts'
import type { Session } from '../../../session/session.ts'
import type { AnyTool } from '../../../tools/tool.ts'
import type { AgentEvent } from '../../events.ts'
import { agentRun } from '../../state/run-state.ts'
import { listEveryTool } from '../core/every-tool.ts'
import { createHost } from '../core/host.ts'
import { checkNames } from '../core/names.ts'
import { placeAddedTools, type PlacedTools } from './added-tools.ts'
import { reportReply, reportStep } from './report.ts'
import { getInputText, getResultTexts, unwrapHints, withoutStaleReasoning } from './step-messages.ts'
import { createApprovals, createPlainError, createToolWrapper, type ToolApprovals } from './wrap-tool.ts'

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
  readonly prompt: Pick<BoundPrompt, 'prompt' | 'render'>
  /** The session that records which sections the model has opened, and what it has read of them. */
  readonly session: Session
  /** The filesystem of the prompt's tools. */
  readonly filesystem?: Filesystem
  /**
   * The sections to open before the first request for each message of the user, as in `runAgent`. Their place is decided
   * by `price`.
   */
  readonly open?: OpenAhead
  /** The conversation so far, with the message to answer, for `open`. */
  readonly messages?: readonly ModelMessage[]
  /** Your own tools, which are always offered in addition to those of the prompt. */
  readonly tools?: ToolSet
  /**
   * Whether the output of a tool that opens sections has their text, which `toUIMessageStream` sends to the browser. By
   * default, the output is a short notice, and only the model reads the text.
   */
  readonly showTextInOutput?: boolean
  /**
   * `native`: tools that an opening or a search adds are sent at their place in the conversation, so everything before it
   * stays cached, and `native()` adds what a search finds. This works for models of `@ai-sdk/anthropic` (3.0.138, or 4.0
   * and later) and the Responses models of `@ai-sdk/openai` (4.0 and later), at an endpoint that accepts it. Default
   * `plain`: at the end of the list of tools.
   */
  readonly toolAdditions?: 'native' | 'plain'
  /** Called with what happens, as in a run: pass a recorder's or the inspector's listener. */
  readonly onEvent?: (event: AgentEvent) => void
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
  /** The order of the tools, for version 7, which otherwise sorts them if an order was set elsewhere. */
  toolOrder: string[]
  /** The prompt's text. */
  system: string
  /** The conversation, if something in it has to be said differently. */
  messages?: ModelMessage[]
}

/**
 * What the AI SDK passes to `prepareStep`, as far as it is used.
 *
 * @example
 * ```ts
 * const step: StepState = { messages: [{ role: 'user', content: 'Where is my parcel?' }] }
 * ```
 */
export interface StepState {
  readonly messages?: ModelMessage[]
  readonly model?: LanguageModel
  readonly stepNumber?: number
  readonly steps?: readonly unknown[]
}

interface RepairRequest {
  readonly toolCall: { readonly toolName: string; readonly toolCallId?: string }
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
   * Pass them to `convertToModelMessages` as well: it then gives the model the text that a browser has not got.
   */
  readonly tools: ToolSet
  /** The tools offered in the first step. */
  readonly activeTools: string[]
  /** The order of the tools, for version 7. */
  readonly toolOrder: string[]
  /**
   * Which calls a person has to approve, for version 7, with the reason. Add your own:
   * `toolApproval: { ...disclosure.toolApproval, delete_account: 'user-approval' }`. If you replace it, calls that need
   * approval do not run.
   */
  readonly toolApproval: ToolApprovals
  prepareStep(this: void, step?: StepState): StepSettings
  /** Answers a call of a tool that is not open yet with instructions to open its section. */
  experimental_repairToolCall(this: void, options: RepairRequest): Promise<null>
  /** Reports each step, if there is an `onEvent`. */
  onStepFinish(this: void, step: unknown): void
}

/**
 * Runs a prompt in the AI SDK's own loop, where the model opens the sections it needs. Create a new one for each call;
 * the session records which sections are open. Text and tools stay in place over all turns of a conversation.
 *
 * @example
 * const disclosure = await createDisclosure({ prompt: bound, session })
 * const { text } = await generateText({ model, ...disclosure, prompt: 'Go.', stopWhen: stepCountIs(20) })
 */
export async function createDisclosure(options: AiSdkDisclosureOptions): Promise<AiSdkDisclosure> {
  const { prompt, session, tools: own = {}, messages: begun, ...more } = options
  const { showTextInOutput: showText = false, toolAdditions = 'plain', ...others } = more
  if (others.open !== undefined && begun === undefined)
    throw new FoldoutError(
      'run-options',
      'open needs the conversation. Pass it as messages, with the message to answer.',
    )
  const ai = await loadAi()
  const host = createHost(prompt, others)
  if (begun?.at(-1)?.role === 'user')
    await host.at(session).openAhead(begun.flatMap((message) => getInputText(message) ?? []))
  const first = host.at(session)
  const every = listEveryTool(first)
  // The style of the model of the step that is under way.
  let style: AdditionStyle | undefined
  const addsInPlace = (): boolean => style !== undefined
  const offer = createOffer(own, every, createToolWrapper(ai, { host, session, showText, addsInPlace }))
  const names = offer.update(first.tools)
  return {
    system: first.getPrompt().text,
    tools: offer.tools,
    activeTools: [...names],
    toolOrder: [...names],
    toolApproval: createApprovals({ host, session }, every),
    prepareStep({ messages = [], model, stepNumber } = {}) {
      const now = host.at(session)
      style = toolAdditions === 'native' && model !== undefined ? getAdditionStyle(model) : undefined
      keepOrder(session, now.tools)
      const { messages: all, shown } = now.addAhead(messages, {
        getInput: getInputText,
        create: (content): ModelMessage => ({ role: 'user', content }),
      })
      const placed = placeAddedTools(all, { session, tools: now.tools, style })
      const active = offer.update(now.tools, placed.options)
      const rendered = now.getPrompt([...getResultTexts(messages), ...shown])
      reportStep(host.report, { prompt: rendered, messages, tools: active, model, stepNumber })
      const said = withoutStaleReasoning(unwrapHints(placed.messages), model, placed.calls)
      const isSame = said.every((message, index) => message === messages[index])
      return {
        activeTools: [...active],
        toolOrder: [...active],
        system: rendered.text,
        ...(!isSame && { messages: said }),
      }
    },
    async experimental_repairToolCall({ toolCall: { toolName: name, toolCallId: id = crypto.randomUUID() } }) {
      const now = host.at(session)
      const active = [...Object.keys(own), ...now.tools.map((tool) => tool.name)]
      // A call with wrong arguments is the SDK's to answer.
      if (active.includes(name)) return null
      const { text } = await now.call({ id, name })
      throw createPlainError('tool-not-disclosed', text)
    },
    onStepFinish: (step) => reportReply(host.report, step, Object.keys(own)),
  }
}

/** Remembers the order of the first request, before anything is opened. */
function keepOrder(session: Session, tools: readonly AnyTool[]): void {
  if (session.get(agentRun).disclosed.length === 0)
    session.dispatch(agentRun.events.disclosed({ names: tools.map(({ name }) => name) }))
}

interface ToolOffer {
  /** All tools; those that can be called are at the end, in the order in which they were opened. */
  readonly tools: ToolSet
  /** Offers tools in this order, with options for the provider, and returns the names of all offered tools. */
  update(tools: readonly AnyTool[], options?: PlacedTools['options']): readonly string[]
}

function createOffer(own: ToolSet, all: readonly AnyTool[], wrap: (tool: AnyTool) => ToolSet[string]): ToolOffer {
  checkNames(Object.keys(own), all)
  const wrapped = new Map(all.map((tool) => [tool.name, wrap(tool)]))
  const tools: ToolSet = { ...own, ...Object.fromEntries(wrapped) }
  return {
    tools,
    update(offered, options) {
      for (const tool of offered) {
        // A section may have been enabled, or a search may have found a tool, since all tools were looked up.
        const known = wrapped.get(tool.name) ?? wrap(tool)
        wrapped.set(tool.name, known)
        const providerOptions = options?.get(tool.name)
        delete tools[tool.name]
        tools[tool.name] = providerOptions ? { ...known, providerOptions } : known
      }
      return [...Object.keys(own), ...offered.map(({ name }) => name)]
    },
  }
}
