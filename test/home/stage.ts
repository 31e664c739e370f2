import { createSession, executeTool, type ToolContext, type ToolResult } from 'foldout'
import { createHome, type Home } from '../../examples/home/home.ts'
import { homeTools } from '../../examples/home/tools.ts'

const context: ToolContext = {
  session: createSession(),
  signal: new AbortController().signal,
  deadline: undefined,
  filesystem: undefined,
  prompt: undefined,
}

type Call = (name: string, args?: Readonly<Record<string, unknown>>) => Promise<ToolResult>

export function stage(): { readonly home: Home; readonly call: Call } {
  const home = createHome()
  const tools = new Map(homeTools(home).map((tool) => [tool.name, tool]))
  return { home, call: (name, args = {}) => executeTool(tools.get(name)!, args, context) }
}

export const getState = (home: Home, id: string): Readonly<Record<string, unknown>> => home.device(id)!.state
