import { type AnyTool, defineTool } from '../../tools/tool.ts'
import { resultsFolded, toolsInjected, toolsRemoved, type ResultsFolded, type ResultRead } from '../events.ts'
import type { RunCore } from './run-core.ts'
import { agentRun } from '../state/run-state.ts'
import type { Message, ToolMessage } from '../../adapters/contract.ts'
import { readPart } from '../../results/read-part.ts'
import { READ_RESULT, formatReading, readResultArguments, readResultDefinition } from '../../results/read-result.ts'
import { countResultTokens } from '../../results/tokens.ts'
import { fail, ok } from '../../tools/result.ts'

/** Whether the provider can remove tools that the model should no longer see. */
export function mustRemoveTools(core: RunCore): boolean {
  return core.options.adapter.removesTools === true && findFoldedTools(core).length > 0
}

/**
 * Removes the tools of closed sections. Providers that remove tools themselves do it at once; for others, the tools
 * leave with a fold, which changes what was sent anyway.
 */
export function removeTools(core: RunCore, isRewrite: boolean): void {
  const { options, journal, toolbox, session, tell } = core
  if (options.adapter.removesTools !== true && !isRewrite) return
  const names = findFoldedTools(core)
  if (names.length === 0) return
  journal.record(agentRun.events.removed({ names }))
  toolbox.remove(names)
  session.dispatch(toolsRemoved({ names }))
  tell({ type: 'tools/removed', names })
}

/** Finds offered tools whose sections are folded. */
function findFoldedTools({ toolbox, render, offer, options, mustRender }: RunCore): readonly string[] {
  const { toolsInFolds, tools } = render()
  if (toolsInFolds.size === 0) return []
  // Without a removal by the provider, tools that were offered from the start can only leave with a new render.
  const canRemove = options.adapter.removesTools === true || mustRender
  const fixed = new Set(canRemove ? [] : offer.tools.map(({ name }) => name))
  const visible = new Set(tools.map(({ name }) => name))
  return [...toolbox.offered].filter((name) => toolsInFolds.has(name) && !visible.has(name) && !fixed.has(name))
}

/** Offers the tool that reads folded results, from the first fold on. */
export function offerReadResult(core: RunCore): void {
  if (!needsReadResult(core)) return
  addTools(core, { added: [core.readResult], keys: [] })
  core.scribe.say({ role: 'tools', names: [core.readResult.name] })
}

/** Whether something is folded that the model cannot read yet. */
export function needsReadResult({
  journal,
  toolbox,
  readResult,
}: Pick<RunCore, 'journal' | 'toolbox' | 'readResult'>): boolean {
  return canReadResults(journal) && !toolbox.offered.has(readResult.name)
}

/** Whether a conversation has something that only `read_result` shows. */
export function canReadResults({ state: { folded, summary } }: RunCore['journal']): boolean {
  // A closed section is opened again.
  return summary !== null || folded.some(({ form }) => form === 'large' || form === 'old')
}

/** Adds tools to the conversation. */
export function addTools(
  { session, journal, toolbox, tell }: RunCore,
  { added, keys }: { readonly added: readonly AnyTool[]; readonly keys: readonly string[] },
): void {
  const event = { names: added.map(({ name }) => name), keys }
  toolbox.add(added)
  session.dispatch(toolsInjected(event))
  tell({ type: 'tools/injected', ...event })
  journal.record(agentRun.events.disclosed({ names: event.names }))
}

/** Tells listeners and the session of a fold. */
export function tellFold({ session, tell }: RunCore, event: ResultsFolded): void {
  session.dispatch(resultsFolded(event))
  tell({ type: 'results/folded', ...event })
}

/** The most tokens that a model reads of a folded result at a time. */
const READ_BACK_TOKENS = 2_000

/** Creates the tool that reads folded results of a conversation. `onRead` is called with each part that was read. */
export function createReadResult(
  getMessages: () => readonly Message[],
  onRead: (read: ResultRead) => void = () => undefined,
): AnyTool {
  return defineTool({
    name: READ_RESULT,
    description: readResultDefinition.description,
    params: readResultDefinition.inputSchema,
    annotations: { readOnlyHint: true, openWorldHint: false },
    async execute(input) {
      const wanted = readResultArguments(input, READ_BACK_TOKENS)
      if ('fault' in wanted) return fail(wanted.fault)
      const messages = getMessages()
      const found = findResult(messages, wanted.result)
      if (!found) return fail(describeMissing(wanted.result, countResults(messages)))
      const answer = await readPart(found.text, wanted.reading)
      if ('fault' in answer) return fail(answer.fault)
      const text = formatReading(answer, wanted.maxTokens)
      const since = messages.slice(messages.indexOf(found)).filter(({ role }) => role === 'assistant').length
      const { callId, name: tool } = found
      onRead({ callId, tool, handle: wanted.result.trim(), age: since, tokens: countResultTokens(text) })
      return ok(text)
    },
  })
}

function describeMissing(handle: string, results: number): string {
  const missing = `There is no result '${handle.slice(0, 80)}'.`
  if (results === 0) return `${missing} No tool has answered yet.`
  if (results === 1) return `${missing} There is only r1.`
  return `${missing} The results of this conversation are r1 to r${results}.`
}

/** Finds the result with a handle in the conversation, which has every result whole. */
export function findResult(messages: readonly Message[], handle: string): ToolMessage | undefined {
  const number = /^r([1-9]\d{0,8})$/.exec(handle.trim())?.[1]
  const results = messages.filter((message) => message.role === 'tool')
  return results[Number(number ?? 0) - 1]
}

function countResults(messages: readonly Message[]): number {
  return messages.filter(({ role }) => role === 'tool').length
}
