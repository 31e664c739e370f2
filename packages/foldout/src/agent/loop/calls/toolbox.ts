import { describeFoldedTool, describeUnknownTool } from '../../../disclosure/hints.ts'
import { getNewTools } from '../../../disclosure/opening.ts'
import { findStrategyTool } from '../../../disclosure/strategy.ts'
import type { RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { AnyTool } from '../../../tools/tool.ts'

/** A tool that can be called, or the message for a model that calls one that cannot. */
export type FoundTool = { readonly tool: AnyTool } | { readonly message: string }

/**
 * The tools of a run. The offered tools change with each render. The callable tools only grow: a tool that was
 * disclosed once stays callable, every visible tool can be called, and a call of any other tool is answered with
 * instructions to get it.
 */
export interface Toolbox {
  /** The names in the conversation's tool list. */
  readonly offered: ReadonlySet<string>
  /** Changes with the list. */
  readonly version: number
  /** Lists the tools with those names. */
  listOffered(): readonly AnyTool[]
  /** Begins a conversation with tools, or continues one that began with them. */
  take(tools: readonly AnyTool[]): void
  /** Adds tools to the conversation. */
  add(tools: readonly AnyTool[]): void
  /** Removes tools from the conversation. A call of one is answered with how to get it. */
  remove(names: readonly string[]): void
  /** Finds the tools that a view offers but the conversation does not have yet. */
  findNew(view: Pick<RenderedPrompt, 'tools'>): readonly AnyTool[]
  find(name: string): FoundTool
}

export interface ToolboxOptions {
  /** Renders the prompt for the current state of the session. */
  readonly render: () => RenderedPrompt
  /** Finds a tool of the run itself. */
  readonly findOwn: (name: string) => AnyTool | undefined
  /** Whether a tool was ever offered in this run. */
  readonly isDisclosed: (name: string) => boolean
}

export function createToolbox({ render, isDisclosed, findOwn }: ToolboxOptions): Toolbox {
  const callable = new Map<string, AnyTool>()
  let offered = new Set<string>()
  let version = 0
  // The last list without new tools; usually the next one is the same.
  let settled: readonly AnyTool[] | undefined
  return {
    get offered() {
      return offered
    },
    get version() {
      return version
    },
    listOffered: () => Array.from(offered, (name) => callable.get(name)).filter((tool) => tool !== undefined),
    take(tools) {
      offered = new Set(tools.map(({ name }) => name))
      settled = undefined
      version++
      for (const tool of tools) callable.set(tool.name, tool)
    },
    add(tools) {
      for (const tool of tools) {
        offered.add(tool.name)
        callable.set(tool.name, tool)
      }
      version++
    },
    remove(names) {
      for (const name of names) {
        offered.delete(name)
        callable.delete(name)
      }
      settled = undefined
      version++
    },
    findNew({ tools }) {
      if (tools === settled) return []
      const added = getNewTools({ tools }, offered)
      if (added.length === 0) settled = tools
      return added
    },
    find(name) {
      const known = callable.get(name) ?? findOwn(name)
      if (known) return { tool: known }
      const now = render()
      const tool = findVisible(name, now) ?? (isDisclosed(name) ? findDisclosed(name, now) : undefined)
      if (tool) return { tool }
      const path = now.toolsInFolds.get(name)
      if (path !== undefined) return { message: describeFoldedTool(name, path, now) }
      return { message: describeUnknownTool(name, callable.keys(), now) }
    },
  }
}

function findVisible(name: string, now: RenderedPrompt): AnyTool | undefined {
  return now.tools.find((tool) => tool.name === name) ?? now.findToolOnDemand(name)
}

/**
 * Finds a tool that was offered earlier but is not offered now: its section was folded again, or nothing is left to
 * open.
 */
function findDisclosed(name: string, { disclosure, view }: RenderedPrompt): AnyTool | undefined {
  return findStrategyTool(disclosure, name, view) ?? view.findTool(name)
}
