import { nearest } from '../../core/text.ts'
import { OPEN_SECTIONS, READ_SECTION } from '../../disclosure/tools.ts'
import type { RenderedPrompt } from '../../prompt/render/rendered-prompt.ts'
import type { AnyTool } from '../../tools/tool.ts'

/**
 * The tools of a run. Those that are advertised change with each render; those that can be called only grow: a tool that was
 * disclosed once stays callable, and one that is not yet tells how to get it.
 */
export interface Toolbox {
  /** Takes what a render advertises. */
  take(rendered: RenderedPrompt): void
  /** Adds tools to a conversation; gives back those whose name was free. */
  add(tools: readonly AnyTool[]): readonly AnyTool[]
  find(name: string): { readonly tool: AnyTool } | { readonly message: string }
}

export function createToolbox(): Toolbox {
  const callable = new Map<string, AnyTool>()
  let last: RenderedPrompt | undefined
  let hidden: ReadonlyMap<string, string> = new Map()
  let opener = READ_SECTION
  return {
    take(rendered) {
      for (const tool of rendered.tools) callable.set(tool.name, tool)
      last = rendered
      hidden = rendered.toolsInFolds
      opener = rendered.tools.some(({ name }) => name === OPEN_SECTIONS) ? OPEN_SECTIONS : READ_SECTION
    },
    add(tools) {
      const free = tools.filter(({ name }) => !callable.has(name))
      for (const tool of free) callable.set(tool.name, tool)
      return free
    },
    find(name) {
      const tool = callable.get(name)
      if (tool) return { tool }
      const folded = last?.findToolOnDemand(name)
      if (folded) return { tool: folded }
      const path = hidden.get(name)
      if (path !== undefined)
        return {
          message: `Tool '${name}' belongs to the section '${path}', which is not open yet. ${howToOpen(opener, path)}`,
        }
      const near = nearest(name, callable.keys())
      return {
        message: `Tool '${name}' does not exist.${near.length > 0 ? ` Nearest tools: ${near.join(', ')}.` : ''}`,
      }
    },
  }
}

function howToOpen(opener: string, path: string): string {
  const args = opener === OPEN_SECTIONS ? `section_keys ["${path}"]` : `section_key "${path}"`
  return `Call \`${opener}\` with ${args} first.`
}
