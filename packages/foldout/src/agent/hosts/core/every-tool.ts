import type { RenderedPrompt } from '../../../prompt/render/rendered-prompt.ts'
import type { AnyTool } from '../../../tools/tool.ts'

/**
 * Lists every tool that a prompt can offer, including the strategy's: opens folded sections level by level, as the model
 * could. Nothing changes.
 */
export function listEveryTool({ rendered }: { readonly rendered: RenderedPrompt }): readonly AnyTool[] {
  const tools = new Map<string, AnyTool>()
  const opened = new Set<string>()
  for (let { view } = rendered; ;) {
    for (const tool of view.tools) if (!tools.has(tool.name)) tools.set(tool.name, tool)
    const folded = view.folded.map(({ path }) => path).filter((path) => !opened.has(path))
    if (folded.length === 0) return [...tools.values()]
    for (const path of folded) opened.add(path)
    view = rendered.view.opened([...opened])
  }
}
