import type { BoundPrompt, RenderOptions } from '../../../prompt/prompt.ts'
import type { SessionReader } from '../../../session/session.ts'
import { visibility, type Visibility, type VisibilityOverrides } from '../../../session/visibility.ts'
import type { AnyTool } from '../../../tools/tool.ts'

/**
 * Every tool a prompt can offer in a session, those of a strategy included: what is folded is opened level by level, as the
 * model could. The session stays as it is.
 */
export function findEveryTool(
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

/** A session with more open in it. */
function addOpened(session: SessionReader, opened: VisibilityOverrides): SessionReader {
  const overrides = { ...session.get(visibility), ...opened }
  return {
    has: (slice) => session.has(slice),
    get: (slice) => (slice.name === visibility.name ? (overrides as never) : session.get(slice)),
  }
}
