import { getMissingTool, hasFoundNothing, type CallResult } from 'foldout/catalog'
import { showInvisible } from '../../../shared/visible.ts'
import { findTarget, readSearch, type FailedServer, type RequestStage } from './request.ts'
import { createErrorResult } from '../../../shared/errors.ts'

/**
 * Waits a while for servers that are still starting before a search, because they may have the tool. If they need longer, the answer
 * names them. If nothing is found, it also names those that cannot be started: a model would conclude that there is no such tool.
 * For the same reason, a call of a tool that waits for the user's approval, or a search for it, is told so.
 */
export const awaitServers: RequestStage = async (request, next) => {
  const { servers } = request.scope
  const isAwaited = servers.isStarting() && !findTarget(request)
  if (isAwaited) await servers.untilStarted()
  const result = await next(request)
  const hasNothing = hasFoundNothing(result)
  const missing = getMissingTool(result)
  const held = missing && servers.findHeld(missing.name, request.context.client)
  if (held !== undefined) {
    if (missing?.isPart) return addNotes(result, [formatHeld(held)])
    return createHeldResult(held)
  }
  const starting = isAwaited ? servers.listStarting() : []
  const failed = hasNothing ? servers.listFailed(request.context.client) : []
  const query = readSearch(request)
  const waiting = query === undefined ? [] : findNamed(query, servers.listHeld(request.context.client))
  const notes = [
    ...(waiting.length > 0 ? [describeWaiting(waiting)] : []),
    ...(starting.length > 0 ? [describeStarting(starting)] : []),
    ...(failed.length > 0 ? [describeFailed(failed)] : []),
  ]
  if (notes.length === 0) return result
  return addNotes(result, notes)
}

function createHeldResult(tool: string): CallResult {
  return createErrorResult(formatHeld(tool))
}

function formatHeld(tool: string): string {
  return `Tool '${showInvisible(tool)}' was not run: its definition is new or has changed, and waits for the user's approval. Ask the user to run "foldout pins".`
}

/** Shorter words say little about a tool. */
const SHORT = 3

/** The tools whose names have a word of a query. Only names are compared: the rest of a held definition is not for models. */
function findNamed(query: string, tools: readonly string[]): readonly string[] {
  if (tools.length === 0) return []
  const toWords = (text: string): readonly string[] =>
    text
      .slice(0, MAX_READ)
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word.length >= SHORT)
  const wanted = new Set(toWords(query))
  return tools.filter((tool) => toWords(tool).some((word) => wanted.has(word)))
}

function describeWaiting(tools: readonly string[]): string {
  const names = tools.map((tool) => showInvisible(tool.slice(0, MAX_NAME)))
  return `Not searched, because their definitions are new or have changed and wait for the user's approval: ${nameSome(names)}. To use one, ask the user to run "foldout pins".`
}

function addNotes(result: CallResult, notes: readonly string[]): CallResult {
  return { ...result, content: [...result.content, ...notes.map((text) => ({ type: 'text', text }))] }
}

const MAX_NAMED = 5
/** How much of a query and of a name is read, in characters. */
const MAX_READ = 2_000
const MAX_NAME = 100

function describeStarting(servers: readonly string[]): string {
  const [first = '', ...others] = servers
  if (others.length === 0)
    return `The server '${first}' is still starting, so its tools are not known yet. If you need one of them, try again in a few seconds.`
  return `These servers are still starting, so their tools are not known yet: ${nameSome(servers)}. If you need one of them, try again in a few seconds.`
}

/** The same in every answer while the same servers fail, whatever the reasons, which the user reads elsewhere. */
function describeFailed(servers: readonly FailedServer[]): string {
  const signIns = servers.filter(({ needsSignIn }) => needsSignIn).map(({ name }) => name)
  const broken = servers.filter(({ needsSignIn }) => !needsSignIn).map(({ name }) => name)
  const advise = (command: string): string => `ask the user to run "foldout ${command}"`
  const parts = [
    ...(broken.length > 0 ? [`Cannot be started: ${nameSome(broken)} (${advise('doctor')}).`] : []),
    ...signIns.slice(0, MAX_NAMED).map((name) => `Needs a sign-in: ${name} (${advise(`login ${name}`)}).`),
  ]
  return `The tool may be on a server that is unavailable. ${parts.join(' ')}`
}

function nameSome(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
  return `${names.slice(0, MAX_NAMED).join(', ')}${more}`
}
