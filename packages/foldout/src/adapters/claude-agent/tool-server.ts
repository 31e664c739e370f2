import { toTimerMs } from '../../core/timer.ts'
import type { ToolImage } from '../../tools/result.ts'
import type { AnyTool } from '../../tools/tool.ts'
import { toSentTool } from '../tool-keys.ts'
import { toToolParameters } from '../tool-schemas.ts'
import type { ClaudeAgentSdk, SdkRequest, SdkServer } from './sdk.ts'

export const SERVER_NAME = 'foldout'

/**
 * The executable writes text beyond its default limit to a file, and shows the model only the beginning; this raises
 * the limit.
 */
const MAX_RESULT_CHARS = 500_000

export interface ToolAnswer {
  readonly text: string
  readonly isError: boolean
  readonly images?: readonly ToolImage[]
}

export interface CallRequest {
  /** The call's id in the model's reply, if the executable reports it. */
  readonly id: string | undefined
  readonly name: string
  readonly arguments: unknown
}

export interface ToolServer {
  /** The server object that the SDK accepts. */
  readonly instance: SdkServer
  /** Announces that the tools have changed. Resolves to whether the executable lists them again in time. */
  relist(timeoutMs: number): Promise<boolean>
}

/** Creates an in-process MCP server that lists the tools that `tools` returns at that moment. */
export function createToolServer(
  sdk: ClaudeAgentSdk,
  tools: () => Iterable<AnyTool>,
  call: (request: CallRequest) => Promise<ToolAnswer>,
): ToolServer {
  const instance = new sdk.Server(
    { name: SERVER_NAME, version: '1' },
    { capabilities: { tools: { listChanged: true } } },
  ) as SdkServer
  let listed: (() => void) | undefined
  instance.setRequestHandler(sdk.ListToolsRequestSchema, async () => {
    // Runs after the list has been sent, so the list arrives before the answer to the call that changed it.
    if (listed !== undefined) setTimeout(listed, 0)
    return {
      tools: [...tools()].map(toSentTool).map(({ name, description, inputSchema }) => ({
        name,
        description,
        // The executable passes the schema on to Anthropic.
        inputSchema: toToolParameters(inputSchema, 'anthropic'),
        _meta: { 'anthropic/maxResultSizeChars': MAX_RESULT_CHARS },
      })),
    }
  })
  instance.setRequestHandler(sdk.CallToolRequestSchema, async ({ params }: SdkRequest) => {
    const { _meta: meta, name = '', arguments: args = {} } = params ?? {}
    const id = meta?.['claudecode/toolUseId']
    const {
      text,
      isError,
      images = [],
    } = await call({ id: typeof id === 'string' ? id : undefined, name, arguments: args })
    return { content: [{ type: 'text', text }, ...images.map((image) => ({ type: 'image', ...image }))], isError }
  })
  return {
    instance,
    async relist(timeoutMs) {
      let timer: NodeJS.Timeout | undefined
      const inTime = new Promise<boolean>((resolve) => {
        listed = () => resolve(true)
        timer = setTimeout(() => resolve(false), toTimerMs(timeoutMs))
      })
      try {
        await instance.sendToolListChanged()
        return await inTime
      } finally {
        clearTimeout(timer)
        listed = undefined
      }
    },
  }
}
