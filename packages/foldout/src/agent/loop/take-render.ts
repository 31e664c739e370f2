import type { Message } from '../../adapters/contract.ts'
import { getNewTools } from '../../disclosure/opening.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { promptRendered } from '../events.ts'
import { findUnfinished } from './conversation.ts'
import type { Offer, RunCore } from './core.ts'
import { agentRun, type ConversationStart } from './run-state.ts'
import { describeStart, hasLost, hashDefinitions, hashPrompt, hashSource } from './start.ts'
import type { Toolbox } from './calls/toolbox.ts'

/**
 * Begins a conversation with the current prompt, or continues with the conversation's own start: a conversation stays
 * append-only as long as possible.
 */
export function takeRender(core: RunCore): void {
  const { journal, toolbox, options, tell } = core
  const rendered = core.render()
  core.rendered = rendered
  const kept = core.mustRender ? undefined : findKept(core, rendered)
  core.mustRender = false
  core.offer = kept ?? { system: rendered.text, tools: rendered.tools }
  toolbox.take(core.offer.tools)
  const { added, missing } = findAddedTools(journal.state.messages, core.offer.tools, toolbox)
  toolbox.add([...added.values()])
  for (const name of missing) {
    tell({
      type: 'warning',
      message: `The tool '${name}', which was added to this conversation, no longer exists.`,
    })
  }
  if (!kept) {
    journal.record(agentRun.events.rendered({ start: describeStart(rendered, options.overrides) }))
  }
  tellRendered(core, rendered)
}

/** Returns the start of the conversation, if requests can continue from it. */
function findKept(core: RunCore, rendered: RenderedPrompt): Offer | undefined {
  const { journal, options, toolbox } = core
  const { start, pending, messages } = journal.state
  if (!start || !isSame(start, rendered, options.overrides)) return undefined
  // Once an interrupted turn is finished, it decides itself whether its openings need a new render.
  const isLeft = findUnfinished(messages).calls.length > 0
  if (pending.length > 0 && !isLeft) return undefined
  if (rendered.text !== start.system && hasLost(rendered, journal.state)) return undefined
  const tools = findStartTools(start, rendered, toolbox)
  if (!tools) return undefined
  if (options.adapter.supportsDynamicTools) return { system: start.system, tools }
  const isGrown =
    messages.some(({ role }) => role === 'tools') || (!isLeft && getNewTools(rendered, new Set(start.tools)).length > 0)
  return isGrown ? undefined : { system: start.system, tools }
}

function isSame(
  start: ConversationStart,
  rendered: RenderedPrompt,
  overrides: RunCore['options']['overrides'],
): boolean {
  return start.prompt === hashPrompt(rendered) && start.source === hashSource(rendered, overrides)
}

/** Finds the tools that a conversation began with, if all of them still exist unchanged. */
function findStartTools(
  start: ConversationStart,
  rendered: RenderedPrompt,
  toolbox: Toolbox,
): readonly AnyTool[] | undefined {
  const visible = new Map(rendered.tools.map((tool) => [tool.name, tool]))
  const tools: AnyTool[] = []
  for (const name of start.tools) {
    const found = visible.get(name) ?? findByName(name, toolbox)
    if (!found) return undefined
    tools.push(found)
  }
  return hashDefinitions(tools) === start.definitions ? tools : undefined
}

function findByName(name: string, toolbox: Toolbox): AnyTool | undefined {
  const found = toolbox.find(name)
  return 'tool' in found ? found.tool : undefined
}

/** Finds the tools that were added to a conversation after its start, by name. */
export function findAddedTools(
  messages: readonly Message[],
  offered: readonly AnyTool[],
  toolbox: Toolbox,
): { readonly added: ReadonlyMap<string, AnyTool>; readonly missing: readonly string[] } {
  const names = new Set(offered.map(({ name }) => name))
  const added = new Map<string, AnyTool>()
  const missing = new Set<string>()
  for (const message of messages) {
    if (message.role !== 'tools') continue
    for (const name of message.names) {
      if (names.has(name) || added.has(name)) continue
      const tool = findByName(name, toolbox)
      if (tool) added.set(name, tool)
      else missing.add(name)
    }
  }
  return { added, missing: [...missing] }
}

function tellRendered({ session, journal, toolbox, tell }: RunCore, rendered: RenderedPrompt): void {
  const event = {
    tools: [...toolbox.offered],
    full: rendered.nodes.filter((node) => node.visibility === 'full').map(({ path }) => path),
    summarized: rendered.summarized,
  }
  session.dispatch(promptRendered(event))
  tell({
    type: 'prompt/rendered',
    ...event,
    // Counted on demand.
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
      return rendered.text
    },
    get toolsInFolds() {
      return Object.fromEntries(rendered.toolsInFolds)
    },
  })
  journal.record(agentRun.events.disclosed({ names: event.tools }))
}
