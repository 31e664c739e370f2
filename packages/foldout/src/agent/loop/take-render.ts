import { getNewTools } from '../../disclosure/opening.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { promptRendered } from '../events.ts'
import { findUnfinished } from './calls/unfinished.ts'
import { describeRendered } from '../rendered-event.ts'
import type { Offer, RunCore } from './run-core.ts'
import { agentRun, type ConversationStart } from '../state/run-state.ts'
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
  const { system, tools } = kept ?? { system: rendered.text, tools: rendered.tools }
  // An adapter that cannot add tools offers it before anything is folded.
  const mustOffer = core.refold.isOn && !options.adapter.supportsDynamicTools
  core.offer = { system, tools: mustOffer ? [...tools, core.readResult] : tools }
  toolbox.take(core.offer.tools)
  const { current, missing } = findAddedTools(core)
  toolbox.add(current)
  for (const name of missing) {
    tell({
      type: 'warning',
      message: `The tool '${name}', which was added to this conversation, no longer exists.`,
    })
  }
  if (!kept) {
    core.refold.loseCache()
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

/** Finds the tools that were added to a conversation after its start, by name. Some were removed since. */
export function findAddedTools(core: Pick<RunCore, 'journal' | 'offer' | 'toolbox' | 'render'>): {
  readonly added: ReadonlyMap<string, AnyTool>
  readonly current: readonly AnyTool[]
  readonly missing: readonly string[]
} {
  const { journal, offer, toolbox, render } = core
  const offered = new Set(offer.tools.map(({ name }) => name))
  const current = new Set<string>()
  const added = new Map<string, AnyTool>()
  const missing = new Set<string>()
  for (const message of journal.state.messages) {
    if (message.role !== 'tools') continue
    for (const name of message.names) {
      const tool = added.get(name) ?? findByName(name, toolbox) ?? render().view.findTool(name)
      if (!tool) missing.add(name)
      else if (!offered.has(name)) added.set(name, tool)
      current.add(name)
    }
    for (const name of message.removed ?? []) current.delete(name)
  }
  return { added, current: [...added.values()].filter(({ name }) => current.has(name)), missing: [...missing] }
}

/** Whether a call may add tools to a conversation. It depends only on how the conversation began. */
export function mayAddTools({ offer, rendered }: Pick<RunCore, 'offer' | 'rendered'>): boolean {
  const { toolNames } = rendered.disclosure
  return offer.tools.some(({ name, findsTools }) => findsTools === true || toolNames.includes(name))
}

function tellRendered({ session, journal, toolbox, tell, offer }: RunCore, rendered: RenderedPrompt): void {
  const event = describeRendered(rendered, [...toolbox.offered], offer.system)
  const { tools, full, summarized } = event
  session.dispatch(promptRendered({ tools, full, summarized }))
  tell(event)
  journal.record(agentRun.events.disclosed({ names: tools }))
}
