import type { OpenAI } from 'openai'
import { shorten } from '../../core/text.ts'
import type { AnyTool, ToolGroup } from '../../tools/tool.ts'
import type { ChatRequest } from '../contract.ts'

type Item = OpenAI.Responses.ResponseInputItem
type FunctionTool = OpenAI.Responses.FunctionTool
type NamespaceTool = OpenAI.Responses.NamespaceTool

const MAX_NAME_CHARACTERS = 64
const MAX_DESCRIPTION_CHARACTERS = 200

/** Returns what an added tool belongs to, in the form that the provider accepts. */
export function toGroup(
  { name: tool }: AnyTool,
  { findToolGroup }: Pick<ChatRequest, 'findToolGroup'>,
): ToolGroup | undefined {
  const group = findToolGroup?.(tool)
  if (group === undefined) return undefined
  const name = group.name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME_CHARACTERS)
  return { name, description: shorten(group.description.trim(), MAX_DESCRIPTION_CHARACTERS).toWellFormed() }
}

/** Puts tools of one server or section together, at the place of the first. */
export function groupTools(
  tools: readonly AnyTool[],
  {
    findGroup,
    toTool,
  }: {
    findGroup(tool: AnyTool): ToolGroup | undefined
    toTool(tool: AnyTool): FunctionTool
  },
): (FunctionTool | NamespaceTool)[] {
  const namespaces = new Map<string, NamespaceTool>()
  const grouped: (FunctionTool | NamespaceTool)[] = []
  for (const tool of tools) {
    const group = findGroup(tool)
    const known = group && namespaces.get(group.name)
    if (known) known.tools.push(toTool(tool))
    else if (group) {
      const namespace: NamespaceTool = { type: 'namespace', ...group, tools: [toTool(tool)] }
      namespaces.set(group.name, namespace)
      grouped.push(namespace)
    } else grouped.push(toTool(tool))
  }
  return grouped
}

/** Sends each call under the namespace in which this request defines its tool. */
export function nameSpaces(items: readonly Item[], namespaces: ReadonlyMap<string, string | undefined>): Item[] {
  return items.map((item) => {
    if (item.type !== 'function_call') return item
    const { namespace: _, ...call } = item
    const namespace = namespaces.get(item.name)
    return namespace === undefined ? call : { ...call, namespace }
  })
}
