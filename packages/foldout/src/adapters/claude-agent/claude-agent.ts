import { checkNumbers } from '../../core/check-number.ts'
import { dropUndefined } from 'foldout-shared/values'
import { refuseMedia } from '../anthropic/input.ts'
import { USUAL_CACHE } from '../../core/price/prompt-cache.ts'
import { findPromptCache } from '../cache/known-caches.ts'
import { NO_USAGE, type Evaluation, type ProviderAdapter } from '../contract.ts'
import { getOutputOptions } from './output.ts'
import { runQuery } from './query.ts'
import type { Progress } from './query-state.ts'
import {
  getInstalledVersion,
  LIST_CHANGED_CAPABILITY,
  canListToolsAgain,
  loadSdk,
  type ClaudeAgentSdk,
  type SdkSystemMessage,
} from './sdk.ts'
import { findResumption, isSessionLost } from './sessions.ts'
import { SERVER_NAME, type ToolServer } from './tool-server.ts'
import { getPrompt } from './transcript.ts'

/**
 * The options of {@link claudeAgent}.
 *
 * @example
 * ```ts
 * const options: ClaudeAgentOptions = { model: 'claude-sonnet-5-5', options: { maxTurns: 20 } }
 * ```
 */
export interface ClaudeAgentOptions {
  /** The model's name. Default: the model that the SDK chooses. */
  readonly model?: string
  /**
   * The API key. Default: the executable's own lookup, such as the environment variable `ANTHROPIC_API_KEY` or a login.
   */
  readonly apiKey?: string
  /** The address of the API. Default: Anthropic's own. */
  readonly baseURL?: string
  /** The executable's complete environment. Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The executable's working directory. Default: the working directory of this process. */
  readonly cwd?: string
  /** How often the executable retries a failed request. Default 3. */
  readonly maxRetries?: number
  /** Whether tools can be added to a running query. Default: whether the SDK's version supports it. */
  readonly dynamicTools?: boolean
  /** How long to wait for the executable to list added tools, in milliseconds. Default 5000. */
  readonly relistTimeoutMs?: number
  /**
   * Whether the executable keeps its sessions on disk. If so, a conversation continues in its session, with the model's
   * thinking, images and cache, instead of from a transcript. Default false.
   */
  readonly persistSession?: boolean
  /**
   * Any other option of the SDK's `query()`. By default, the executable has no tools or settings of its own, uses the
   * prompt unchanged and does not write its session to disk.
   */
  readonly options?: Readonly<Record<string, unknown>>
  /** The SDK itself, if Foldout cannot import it from its own location. */
  readonly sdk?: ClaudeAgentSdk
}

const RELIST_TIMEOUT_MS = 5000

/** Options that can make the executable reject a call. A call must then not run before the executable requests it. */
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
 * Uses Claude through the Claude Agent SDK. Requires the packages `@anthropic-ai/claude-agent-sdk` and
 * `@modelcontextprotocol/sdk`.
 *
 * The SDK's executable sends and retries the requests; tools reach it through an in-process MCP server, under their own
 * names. The calls of one reply run together, unless `options` contains something that may reject one of them. If they
 * run together, a run can pause for approval: the query ends, and the conversation continues in a new one. With
 * `canUseTool`, hooks or permission settings, it cannot pause: calls that need approval fail, and `canUseTool` is the
 * place to ask.
 *
 * Since version 0.3.286, the executable lists the server's tools again when they change, so tools can be added to a
 * running query; it sorts its tool list by name. If it does not announce this capability, or does not list them in
 * time, the adapter emits a warning, ends the query and continues the conversation in a new query that offers all tools
 * from its start. Either way, the tools are in the very next request. Once an executable has not announced the
 * capability, the adapter reports that it does not support dynamic tools.
 *
 * A query takes a single prompt, so the earlier conversation is sent as a transcript, unless `persistSession` is set
 * and the session still exists.
 *
 * If the prompt has an output, the executable enforces its schema.
 *
 * @example
 * ```ts
 * const adapter = claudeAgent({ model: 'claude-sonnet-5-5' })
 * const { text } = await runAgent(bound, { adapter, input: 'Where is my parcel?' })
 * ```
 */
export function claudeAgent(settings: ClaudeAgentOptions = {}): ProviderAdapter {
  const { model, options = {}, relistTimeoutMs = RELIST_TIMEOUT_MS, maxRetries } = settings
  checkNumbers({ relistTimeoutMs, maxRetries }, { code: 'adapter-config' })
  const keepsSession = (options['persistSession'] ?? settings.persistSession) === true
  const runsTogether = !GATES.some((gate) => options[gate] !== undefined)
  let sdk = settings.sdk
  let isDynamic = settings.dynamicTools ?? canListToolsAgain(sdk?.version ?? getInstalledVersion())
  return {
    name: 'anthropic',
    model: model ?? 'default',
    promptCache: findPromptCache(model ?? 'claude') ?? USUAL_CACHE,
    get supportsDynamicTools() {
      return isDynamic
    },
    // The executable would not request a postponed call again, so nothing there could reject it.
    canPause: runsTogether,
    // The executable keeps its own transcript.
    ownsConversation: true,
    refuseInput: refuseMedia,
    async evaluate(evaluation) {
      sdk ??= await loadSdk()
      const loaded = sdk
      const { tools, addedTools, messages, emit } = evaluation
      const offered = new Map([...tools.map((tool) => [tool.name, tool] as const), ...addedTools])
      const progress: Progress = { conversation: [...messages], offered, usage: NO_USAGE }
      let canRelist = true
      const onInit = ({ capabilities = [] }: SdkSystemMessage): void => {
        canRelist = capabilities.includes(LIST_CHANGED_CAPABILITY)
        if (canRelist || !isDynamic) return
        isDynamic = false
        emit({
          type: 'warning',
          message: `The executable of the Claude Agent SDK ${loaded.version} does not announce ${LIST_CHANGED_CAPABILITY}, so tools cannot be added to a running query. When tools are added, the conversation continues in a new query.`,
        })
      }
      let resumption = keepsSession ? findResumption(messages) : undefined
      for (;;) {
        await evaluation.beforeRequest()
        const { session, prompt = getPrompt(progress.conversation) } = resumption ?? {}
        resumption = undefined
        try {
          const end = await runQuery({
            sdk: loaded,
            evaluation,
            progress,
            runsTogether,
            relistTimeoutMs,
            hasOutput: evaluation.output !== undefined,
            keepsSession,
            isResumed: session !== undefined,
            onInit,
            canRelist: () => canRelist,
            start: (server, abortController) =>
              loaded.query({
                prompt,
                options: {
                  ...getQueryOptions(settings, evaluation, server),
                  ...getResumeOptions(session),
                  abortController,
                },
              }),
          })
          if (end.type !== 'restart') return end
        } catch (error) {
          if (session === undefined || !isSessionLost(error)) throw error
        }
      }
    },
  }
}

/** The session is forked, so other runs can continue from the same message. */
function getResumeOptions(session: string | undefined): Record<string, unknown> {
  if (session === undefined) return {}
  return { resume: session, forkSession: true }
}

function getQueryOptions(
  { model, cwd, persistSession = false, options = {}, ...settings }: ClaudeAgentOptions,
  { system, output }: Evaluation,
  server: ToolServer,
): Record<string, unknown> {
  const allowed = (options['allowedTools'] as readonly string[] | undefined) ?? []
  return {
    settingSources: [],
    tools: [],
    permissionMode: 'dontAsk',
    persistSession,
    strictMcpConfig: true,
    verbatimPrompts: true,
    ...getOutputOptions(output),
    ...dropUndefined({ model, cwd }),
    ...options,
    systemPrompt: system,
    includePartialMessages: true,
    allowedTools: [`mcp__${SERVER_NAME}__*`, ...allowed],
    env: getEnvironment(settings, options['env'] as ClaudeAgentOptions['env']),
    mcpServers: {
      ...(options['mcpServers'] as object | undefined),
      // Otherwise, the executable may hide tools behind its own search.
      [SERVER_NAME]: { type: 'sdk', name: SERVER_NAME, instance: server.instance, alwaysLoad: true },
    },
  }
}

function getEnvironment(
  { apiKey, baseURL, env, maxRetries }: ClaudeAgentOptions,
  passed: ClaudeAgentOptions['env'],
): Record<string, string | undefined> {
  return {
    // Lets a tool's result reach the model in full.
    MAX_MCP_OUTPUT_TOKENS: '1000000',
    // Lets tools keep the names that the prompt uses.
    CLAUDE_AGENT_SDK_MCP_NO_PREFIX: '1',
    CLAUDE_CODE_MAX_RETRIES: '3',
    ...(env ?? passed ?? process.env),
    ...(maxRetries !== undefined && { CLAUDE_CODE_MAX_RETRIES: String(maxRetries) }),
    ...dropUndefined({ ANTHROPIC_API_KEY: apiKey, ANTHROPIC_BASE_URL: baseURL }),
  }
}
