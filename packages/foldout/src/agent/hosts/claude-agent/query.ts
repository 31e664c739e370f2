import {
  loadSdk,
  type ClaudeAgentSdk,
  type SdkPrompt,
  type SdkPromptMessage,
} from '../../../adapters/claude-agent/sdk.ts'
import { createToolServer, SERVER_NAME, type ToolServer } from '../../../adapters/claude-agent/tool-server.ts'
import { isObject } from 'foldout-shared/values'
import { getOpenedText } from '../../../disclosure/engine.ts'
import { describeCallable, describeNews } from '../../../disclosure/opening.ts'
import type { BoundPrompt } from '../../../prompt/prompt.ts'
import type { Session } from '../../../session/session.ts'
import { visibility } from '../../../session/visibility.ts'
import { hashCall } from '../../../tools/approval.ts'
import type { ApprovalNeed } from '../../../tools/tool.ts'
import { describeDenial } from '../../loop/calls/approval.ts'
import type { Host, HostOptions, HostView } from '../core/contract.ts'
import { findOpenedInSystem } from '../core/ahead.ts'
import { createHost } from '../core/host.ts'
import { watchMessages } from './report.ts'

/**
 * Options of {@link queryClaude}.
 *
 * @example
 * ```ts
 * const options: ClaudeQueryOptions = { prompt: 'Where is my parcel?', session, options: { model: 'claude-sonnet-5-5' } }
 * ```
 */
export interface ClaudeQueryOptions extends HostOptions {
  /** What the user says: a text, or messages of the SDK. */
  readonly prompt: SdkPrompt
  /** The session that records what is open. Pass the same one when you `resume`. */
  readonly session: Session
  /** The options of the SDK's `query()`. Calls that need approval go to its `canUseTool`. */
  readonly options?: Readonly<Record<string, unknown>>
  /** The SDK itself, if Foldout cannot import it from its own location. */
  readonly sdk?: ClaudeAgentSdk
}

/** How long the executable may take to list added tools. */
const RELIST_TIMEOUT_MS = 5_000

/**
 * The SDK's own `query()`, with a prompt in it: its text follows your system prompt, and the model opens what it needs.
 * Opened tools join the running query. The system text of a query is fixed, so opened text is read in results; after the
 * executable has compacted the conversation, it reads it again. Leaving the loop early ends the query.
 *
 * @example
 * ```ts
 * const messages = queryClaude(bound, { prompt: 'Money back for A-17.', session, options: { model: 'claude-sonnet-5-5' } })
 * for await (const message of messages) console.log(message)
 * ```
 */
export async function* queryClaude(
  bound: Pick<BoundPrompt, 'prompt' | 'render'>,
  { prompt, session, options = {}, sdk: given, ...others }: ClaudeQueryOptions,
): AsyncGenerator<object, void, undefined> {
  const sdk = given ?? (await loadSdk())
  const host = createHost(bound, others)
  const isResumed = options['resume'] !== undefined
  const { said, shown } = await openAheadInQuery(host, {
    prompt,
    session,
    isResumed,
    relist: () => server.relist(RELIST_TIMEOUT_MS),
  })
  const now = host.at(session)
  // A query that resumes has read what is open in results, but not what its system text had.
  const inSystem = findOpenedInSystem(session)
  const read = now.rendered.nodes.filter(({ path }) => isResumed && !inSystem.has(path))
  const start = now.getPrompt([...shown, ...read.map(({ text }) => text)])
  const watch = watchMessages(host.report, { prompt: start, getTools: () => host.at(session).tools })
  /** What people were asked about the calls that they have approved. */
  const approved = new Map<string, ApprovalNeed>()
  const server: ToolServer = createToolServer(
    sdk,
    () => host.at(session).tools,
    async ({ id, name, arguments: args }) => {
      watch.begins()
      const key = id ?? hashCall(name, args)
      const need = approved.get(key)
      approved.delete(key)
      return answerCall(host, session, {
        call: { id: id ?? crypto.randomUUID(), name, arguments: args },
        need,
        server,
      })
    },
  )
  const query = sdk.query({
    prompt: said,
    options: {
      ...options,
      systemPrompt: appendText(options['systemPrompt'], start.text),
      canUseTool: createPermission(host, { session, approved, ask: options['canUseTool'] as CanUseTool | undefined }),
      hooks: addReminder(options['hooks'], () => describeOpenSections(host.at(session))),
      // Lets tools keep the names that the prompt uses, and a tool's result reach the model in full.
      env: { MAX_MCP_OUTPUT_TOKENS: '1000000', CLAUDE_AGENT_SDK_MCP_NO_PREFIX: '1', ...getEnvironment(options['env']) },
      mcpServers: {
        ...(options['mcpServers'] as object | undefined),
        // Otherwise, the executable may hide tools behind its own search.
        [SERVER_NAME]: { type: 'sdk', name: SERVER_NAME, instance: server.instance, alwaysLoad: true },
      },
    },
  })
  host.report.started(typeof prompt === 'string' ? { input: prompt } : {})
  try {
    for (;;) {
      const { done, value } = await query.next()
      if (done) return
      watch.onMessage(value)
      yield value
    }
  } finally {
    await query.return(undefined)
  }
}

interface AheadQuery {
  readonly prompt: SdkPrompt
  readonly session: Session
  readonly isResumed: boolean
  /** Lists the tools again. */
  relist(): Promise<unknown>
}

interface SaidAhead {
  readonly said: SdkPrompt
  /** What the first message shows. */
  readonly shown: readonly string[]
}

/** Opens what belongs to the user's messages. The executable keeps the messages, so what they show is added to them. */
async function openAheadInQuery(host: Host, query: AheadQuery): Promise<SaidAhead> {
  const { prompt, session, isResumed } = query
  if (typeof prompt !== 'string') return { said: addToMessages(host, prompt, query), shown: [] }
  const { text } = await host.at(session).openAhead([prompt], { hasBegun: isResumed })
  if (text === '') return { said: prompt, shown: [] }
  return { said: `${prompt}\n\n${text}`, shown: [text] }
}

async function* addToMessages(
  host: Host,
  prompt: AsyncIterable<SdkPromptMessage>,
  { session, relist }: AheadQuery,
): AsyncGenerator<SdkPromptMessage, void, undefined> {
  let isConnected = false
  for await (const given of prompt) {
    const { text, added } = await host.at(session).openAhead([getInput(given)], { hasBegun: true })
    // Before the first message, the executable has not listed them yet.
    if (isConnected && added.length > 0) await relist()
    isConnected = true
    yield text === '' ? given : addText(given, text)
  }
}

type Content = string | SdkPromptMessage['message']['content']

/** The SDK's own type also allows a text. */
const getContent = ({ message }: SdkPromptMessage): Content => message.content

function getInput(given: SdkPromptMessage): string {
  const content = getContent(given)
  if (typeof content === 'string') return content
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

function addText(given: SdkPromptMessage, text: string): SdkPromptMessage {
  const content = getContent(given)
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
  return { ...given, message: { ...given.message, content: [...blocks, { type: 'text', text }] } }
}

function getEnvironment(env: unknown): object {
  return isObject(env) ? env : process.env
}

function appendText(systemPrompt: unknown, text: string): unknown {
  if (isObject(systemPrompt)) {
    const { append } = systemPrompt
    return { ...systemPrompt, append: [append, text].filter(Boolean).join('\n\n') }
  }
  return [systemPrompt, text].filter(Boolean).join('\n\n')
}

async function answerCall(
  host: Host,
  session: Session,
  {
    call,
    need,
    server,
  }: {
    readonly call: { readonly id: string; readonly name: string; readonly arguments: unknown }
    /** Undefined if nobody has approved the call. */
    readonly need: ApprovalNeed | undefined
    readonly server: ToolServer
  },
) {
  const result = await host.at(session).call(call, { isApproved: need !== undefined, need })
  // The list arrives before the answer to the call that changed it.
  if (result.added.length > 0) await server.relist(RELIST_TIMEOUT_MS)
  const { text, isError, images } = result
  const opened = getOpenedText(host.at(session).rendered.view, result.opened)
  if (text.includes(opened)) return { text, isError, images }
  // The result says that the text is in the system prompt, which cannot change any more.
  return { text: [opened, describeCallable(result.added)].filter(Boolean).join('\n\n'), isError, images }
}

type Permission =
  | { readonly behavior: 'allow'; readonly updatedInput: unknown }
  | { readonly behavior: 'deny'; readonly message: string }

type CanUseTool = (
  name: string,
  input: unknown,
  context: { readonly toolUseID?: string; readonly [key: string]: unknown },
) => Promise<Permission>

/** The prompt's tools run, except calls that need approval: those are asked about, as are all other tools. */
function createPermission(
  host: Host,
  {
    session,
    approved,
    ask,
  }: { readonly session: Session; readonly approved: Map<string, ApprovalNeed>; readonly ask: CanUseTool | undefined },
): CanUseTool {
  return async (called, input, context) => {
    const name = called.startsWith(`mcp__${SERVER_NAME}__`) ? called.slice(`mcp__${SERVER_NAME}__`.length) : called
    const now = host.at(session)
    const call = { id: context.toolUseID ?? '', name, arguments: input }
    const need = now.find(name) ? await now.findApprovalNeed(call) : undefined
    if (need === false) return { behavior: 'allow', updatedInput: input }
    if (need !== undefined) host.report.asked(call, need)
    const answer: Permission = (await ask?.(name, input, context)) ?? {
      behavior: 'deny',
      message: describeDenial(undefined),
    }
    if (need === undefined) return answer
    host.report.answered(call, answer.behavior === 'allow')
    if (answer.behavior === 'allow') approved.set(context.toolUseID ?? hashCall(name, answer.updatedInput), need)
    return answer
  }
}

/** Says again what is open, once the executable has replaced the conversation by a summary. */
function addReminder(hooks: unknown, describe: () => string): Record<string, unknown> {
  const own = isObject(hooks) ? hooks : {}
  const before = Array.isArray(own['SessionStart']) ? (own['SessionStart'] as readonly unknown[]) : []
  const remind = async (): Promise<object> => {
    const additionalContext = describe()
    if (additionalContext === '') return {}
    return { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext } }
  }
  return { ...own, SessionStart: [...before, { matcher: 'compact', hooks: [remind] }] }
}

function describeOpenSections({ session, rendered }: HostView): string {
  const paths = Object.entries(session.get(visibility)).flatMap(([path, state]) => (state === 'full' ? [path] : []))
  const text = getOpenedText(rendered.view, paths)
  return text === '' ? '' : describeNews(text)
}
