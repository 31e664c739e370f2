import { NO_USAGE, type ProviderAdapter } from '../contract.ts'
import { runQuery, type Progress } from './query.ts'
import {
  installedVersion,
  LIST_CHANGED_CAPABILITY,
  listsToolsAgain,
  loadSdk,
  type ClaudeAgentSdk,
  type SdkSystemMessage,
} from './sdk.ts'
import { SERVER_NAME, type ToolServer } from './tool-server.ts'
import { getPrompt } from './transcript.ts'

export interface ClaudeAgentOptions {
  /** Default: the one that the SDK chooses. */
  readonly model?: string
  /** Default: what the executable finds, such as the environment variable `ANTHROPIC_API_KEY` or a login. */
  readonly apiKey?: string
  readonly baseURL?: string
  /** The executable's whole environment. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The executable's working directory. Default: that of this process. */
  readonly cwd?: string
  /** How often the executable sends a failed request again. Default 3. */
  readonly maxRetries?: number
  /** Whether tools can be added to a running query. Default: whether the SDK's version can. */
  readonly dynamicTools?: boolean
  /** How long to wait, in milliseconds, until added tools have been listed. Default 5000. */
  readonly relistTimeoutMs?: number
  /**
   * Anything else that the SDK's `query()` takes. By default the executable has no tools and settings of its own, takes
   * the prompt word by word and writes no session to disk.
   */
  readonly options?: Readonly<Record<string, unknown>>
  /** The SDK, where it cannot be found from here. */
  readonly sdk?: ClaudeAgentSdk
}

const RELIST_TIMEOUT_MS = 5000

/** Options that can make the executable refuse a call, which must then not have been run. */
const GATES = [
  'canUseTool',
  'disallowedTools',
  'hooks',
  'managedSettings',
  'permissionMode',
  'permissionPromptToolName',
  'plugins',
  'settings',
  'settingSources',
]

/**
 * Claude through the Claude Agent SDK, with the packages `@anthropic-ai/claude-agent-sdk` and `@modelcontextprotocol/sdk`.
 * The SDK's executable asks the model and retries by itself; tools reach it as an in-process MCP server, under their own
 * names. The calls of one reply are run together, unless `options` has something that may refuse one of them.
 *
 * Tools are added to a running query where the executable lists an MCP server's tools again, from version 0.3.286 on; it
 * sorts its tool list by name. Where it does not announce that it can, or does not do it in time, there is a warning, the
 * query is ended and the conversation goes on in a new one that offers all tools from its start: they are in the very next
 * request either way. An adapter whose executable has not announced it says from then on that it has no dynamic tools.
 *
 * A query takes one prompt only, so what was said before it, if anything, goes along as a transcript.
 */
export function claudeAgent(settings: ClaudeAgentOptions = {}): ProviderAdapter {
  const { model, options = {}, relistTimeoutMs = RELIST_TIMEOUT_MS } = settings
  const runsTogether = !GATES.some((gate) => options[gate] !== undefined)
  let sdk = settings.sdk
  let isDynamic = settings.dynamicTools ?? listsToolsAgain(sdk?.version ?? installedVersion())
  return {
    name: 'anthropic',
    model: model ?? 'default',
    get supportsDynamicTools() {
      return isDynamic
    },
    async evaluate(evaluation) {
      sdk ??= await loadSdk()
      const loaded = sdk
      const { system, tools, addedTools, messages, emit } = evaluation
      const offered = new Map([...tools.map((tool) => [tool.name, tool] as const), ...addedTools])
      const progress: Progress = { conversation: [...messages], offered, usage: NO_USAGE }
      let canRelist = true
      const onInit = ({ capabilities = [] }: SdkSystemMessage): void => {
        canRelist = capabilities.includes(LIST_CHANGED_CAPABILITY)
        if (canRelist || !isDynamic) return
        isDynamic = false
        emit({
          type: 'warning',
          message: `The executable of the Claude Agent SDK ${loaded.version} does not announce ${LIST_CHANGED_CAPABILITY}, so that tools cannot be added to a running query. Where they are added, the conversation goes on in a new query.`,
        })
      }
      for (;;) {
        await evaluation.beforeRequest()
        const end = await runQuery({
          sdk: loaded,
          evaluation,
          progress,
          runsTogether,
          relistTimeoutMs,
          onInit,
          canRelist: () => canRelist,
          start: (server, abortController) =>
            loaded.query({
              prompt: getPrompt(progress.conversation),
              options: { ...queryOptions(settings, system, server), abortController },
            }),
        })
        if (end.type !== 'restart') return end
      }
    },
  }
}

function queryOptions(
  { model, cwd, options = {}, ...settings }: ClaudeAgentOptions,
  system: string,
  server: ToolServer,
): Record<string, unknown> {
  const allowed = (options['allowedTools'] as readonly string[] | undefined) ?? []
  return {
    settingSources: [],
    tools: [],
    permissionMode: 'dontAsk',
    persistSession: false,
    verbatimPrompts: true,
    ...(model === undefined ? {} : { model }),
    ...(cwd === undefined ? {} : { cwd }),
    ...options,
    systemPrompt: system,
    includePartialMessages: true,
    allowedTools: [`mcp__${SERVER_NAME}__*`, ...allowed],
    env: environment(settings, options['env'] as ClaudeAgentOptions['env']),
    mcpServers: {
      ...(options['mcpServers'] as object | undefined),
      // Without it the executable may hide tools behind a search of its own.
      [SERVER_NAME]: { type: 'sdk', name: SERVER_NAME, instance: server.instance, alwaysLoad: true },
    },
  }
}

function environment(
  { apiKey, baseURL, env, maxRetries }: ClaudeAgentOptions,
  passed: ClaudeAgentOptions['env'],
): Record<string, string | undefined> {
  return {
    // So that what a tool says reaches the model whole.
    MAX_MCP_OUTPUT_TOKENS: '1000000',
    // So that tools have the names by which the prompt speaks of them.
    CLAUDE_AGENT_SDK_MCP_NO_PREFIX: '1',
    CLAUDE_CODE_MAX_RETRIES: '3',
    ...(env ?? passed ?? process.env),
    ...(maxRetries === undefined ? {} : { CLAUDE_CODE_MAX_RETRIES: String(maxRetries) }),
    ...(apiKey === undefined ? {} : { ANTHROPIC_API_KEY: apiKey }),
    ...(baseURL === undefined ? {} : { ANTHROPIC_BASE_URL: baseURL }),
  }
}
