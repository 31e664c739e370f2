import { toOwnArguments } from '../../../adapters/tool-keys.ts'
import { getAncestors } from '../../../core/text.ts'
import { describeFoldedTool, describeUnknownTool } from '../../../disclosure/hints.ts'
import { findStrategyTool } from '../../../disclosure/strategy.ts'
import { getView, type RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { SessionReader } from '../../../session/session.ts'
import { visibility, type VisibilityOverrides } from '../../../session/visibility.ts'
import { checkArguments } from '../../../tools/execute.ts'
import type { AnyTool, ApprovalNeed } from '../../../tools/tool.ts'
import { agentRun } from '../../state/run-state.ts'
import { addAheadTo, openAheadInHost } from './ahead.ts'
import type { HostCall, HostView } from './contract.ts'
import { createContext, type ViewParts } from './parts.ts'
import { runHostCall } from './run-call.ts'

export function createView(parts: ViewParts): HostView {
  const { bound, session } = parts
  const render = (reader: SessionReader): RenderedPrompt => bound.render({ ...parts.render, session: reader })
  const rendered = render(session)
  const find = (name: string): AnyTool | undefined => findTool(rendered, session, name)
  const view: HostView = {
    session,
    rendered,
    tools: listTools(rendered, session),
    getPrompt(shown = []) {
      const reader = withoutShown(session, rendered, [...shown])
      if (reader === session) return rendered
      return render(reader)
    },
    openAhead: (inputs, options) => openAheadInHost({ ...parts, view, renderFor: render }, inputs, options),
    addAhead: (messages, form) => addAheadTo(session, messages, form),
    find,
    describeMissing(name, others = []) {
      const path = rendered.toolsInFolds.get(name)
      if (path !== undefined) return describeFoldedTool(name, path, rendered)
      return describeUnknownTool(name, [...view.tools.map((tool) => tool.name), ...others], rendered)
    },
    findApprovalNeed: (call) => findApprovalNeed(parts, view, call),
    call: (call, options) => runHostCall({ ...parts, view, renderFor: render }, call, options),
  }
  return view
}

/** Every tool keeps its place, so the list only grows at its end. */
function listTools(rendered: RenderedPrompt, session: SessionReader): readonly AnyTool[] {
  const visible = new Map(rendered.tools.map((tool) => [tool.name, tool]))
  const { disclosed } = session.get(agentRun)
  const earlier = disclosed.flatMap((name) => visible.get(name) ?? findOffered(rendered, name) ?? [])
  const names = new Set(earlier.map(({ name }) => name))
  return [...earlier, ...rendered.tools.filter(({ name }) => !names.has(name))]
}

function findTool(rendered: RenderedPrompt, session: SessionReader, name: string): AnyTool | undefined {
  const visible = rendered.tools.find((tool) => tool.name === name) ?? rendered.findToolOnDemand(name)
  if (visible) return visible
  if (session.get(agentRun).disclosed.includes(name)) return findOffered(rendered, name)
  return undefined
}

/** A tool that opens sections stays, even if nothing is left to open. */
function findOffered({ disclosure, view }: RenderedPrompt, name: string): AnyTool | undefined {
  return findStrategyTool(disclosure, name, view)
}

/** Calls with wrong arguments need no approval, because they fail. If the need cannot be determined, there is one. */
async function findApprovalNeed(parts: ViewParts, view: HostView, call: HostCall): Promise<ApprovalNeed> {
  const tool = view.find(call.name)
  if (!tool?.needsApproval) return false
  const transaction = view.session.begin()
  try {
    const checked = await checkArguments(tool, toOwnArguments(call.arguments ?? {}, tool))
    if (checked.issues) return false
    const context = createContext(parts, view, call, {})
    return await tool.needsApproval(checked.value, { ...context, session: transaction.session })
  } catch {
    return true
  } finally {
    // The check must not change anything.
    transaction.abandon()
  }
}

/**
 * Returns a session in which the sections are folded that the conversation shows, so that the system text has only what
 * it does not.
 */
function withoutShown(session: SessionReader, now: RenderedPrompt, shown: readonly string[]): SessionReader {
  const opened = session.get(visibility)
  const missing = new Set<string>()
  for (const [path, state] of Object.entries(opened)) {
    const body = state === 'full' ? findBody(now, path) : undefined
    if (body === undefined) missing.add(path)
    else if (!shown.some((text) => text.includes(body))) {
      // A section is visible only if those around it are.
      for (const each of [...getAncestors(path), path]) missing.add(each)
    }
  }
  const kept = Object.entries(opened).filter(([path]) => missing.has(path))
  if (kept.length === Object.keys(opened).length) return session
  return withVisibility(session, Object.fromEntries(kept))
}

/** Returns the text of an open section below its heading. */
function findBody(now: RenderedPrompt, path: string): string | undefined {
  const view = getView(now)
  const slot = view?.renderer.options.registry.byPath.get(path)
  if (!view || !slot || view.state(path) !== 'full') return undefined
  return view.frame.node(slot.index)?.text.slice(slot.heading.length).trim()
}

function withVisibility(session: SessionReader, overrides: VisibilityOverrides): SessionReader {
  return {
    has: (slice) => session.has(slice),
    get: (slice) => {
      if (slice.name === visibility.name) return overrides as never
      return session.get(slice)
    },
  }
}
