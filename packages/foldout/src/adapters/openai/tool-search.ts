import type { OpenAI } from 'openai'
import type { AnyTool } from '../../tools/tool.ts'
import { MAX_ARGUMENTS_DEPTH } from '../limits.ts'
import { isDeeperThan } from '../tool-calls.ts'
import { toToolParameters } from '../tool-schemas.ts'

type InputItem = OpenAI.Responses.ResponseInputItem
type OutputItem = OpenAI.Responses.ResponseOutputItem
type ToolSearch = OpenAI.Responses.ToolSearchTool
type SearchOutput = OpenAI.Responses.ResponseToolSearchOutputItemParam

/** From GPT-5.4 on, models know the provider's search for tools, which the caller may answer. */
const SEARCHING_MODELS = /^(ft:)?gpt-(5\.([4-9]|\d\d)|[6-9]|\d\d)/

export function isSearching(model: string): boolean {
  return SEARCHING_MODELS.test(model)
}

/** Finds the tool that can be sent as the provider's own search. */
export function findSearchTool(model: string, tools: readonly AnyTool[]): AnyTool | undefined {
  return isSearching(model) ? tools.find(({ findsTools }) => findsTools === true) : undefined
}

export function toToolSearch({ description, inputSchema }: AnyTool): ToolSearch {
  const parameters = toToolParameters(inputSchema, 'openai')
  return { type: 'tool_search', execution: 'client', description, parameters }
}

/** Turns a search that the model wrote into a call of the tool that answers it. */
export function toSearchCall(item: OutputItem, searchTool: string | undefined): OutputItem {
  if (item.type !== 'tool_search_call' || item.execution === 'server' || searchTool === undefined) return item
  const { id, call_id: callId, arguments: given } = item
  return { type: 'function_call', id, call_id: callId ?? '', name: searchTool, arguments: toText(given) }
}

/** Arguments nested too deep could not be written as text. */
function toText(given: unknown): string {
  if (typeof given === 'string') return given
  return isDeeperThan(given, MAX_ARGUMENTS_DEPTH) ? '(nested too deep)' : JSON.stringify(given ?? {})
}

/**
 * Sends calls of the search as searches, and the tools that each added as its output. The output has no text, so what the
 * search said follows as a message.
 */
export function useToolSearch(items: readonly InputItem[], searchTool: string): InputItem[] {
  const searches = new Set<string>()
  const sent: InputItem[] = []
  for (const item of items) {
    if (item.type === 'function_call' && item.name === searchTool) {
      searches.add(item.call_id)
      sent.push(toSearchItem(item))
    } else if (item.type === 'function_call_output' && searches.has(item.call_id)) {
      sent.push(toSearchOutput(item.call_id))
      if (typeof item.output === 'string' && item.output !== '') sent.push({ role: 'developer', content: item.output })
    } else if (item.type === 'additional_tools') addTools(sent, item)
    else sent.push(item)
  }
  return sent
}

function toSearchItem({ id, call_id: callId, arguments: text }: OpenAI.Responses.ResponseFunctionToolCall): InputItem {
  const known = id === undefined ? {} : { id }
  return {
    type: 'tool_search_call',
    ...known,
    call_id: callId,
    execution: 'client',
    status: 'completed',
    arguments: parse(text),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function toSearchOutput(callId: string): SearchOutput {
  return { type: 'tool_search_output', call_id: callId, execution: 'client', status: 'completed', tools: [] }
}

/** Tools belong to the last search of their turn, if there was one. */
function addTools(sent: InputItem[], item: OpenAI.Responses.ResponseInputItem.AdditionalTools): void {
  const reply = sent.findLastIndex(({ type }) => type === 'tool_search_call' || type === 'function_call')
  const at = sent.findLastIndex(({ type }) => type === 'tool_search_output')
  const output = sent[at]
  if (at < reply || output?.type !== 'tool_search_output') sent.push(item)
  else sent[at] = { ...output, tools: [...output.tools, ...item.tools.map(toFoundTool)] }
}

/** Tools that a search has found are marked as those that were not in the list. */
function toFoundTool(tool: OpenAI.Responses.Tool): OpenAI.Responses.Tool {
  if (tool.type === 'function') return { ...tool, defer_loading: true }
  if (tool.type !== 'namespace') return tool
  return { ...tool, tools: tool.tools.map((each) => ({ ...each, defer_loading: true })) }
}
