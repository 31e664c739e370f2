import { mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import type { ClaudeAgentSdk } from '../../packages/foldout/src/entries/claude-agent.ts'
import type {
  Evaluation,
  Message,
  ModelEvent,
  ToolCall,
  TurnOutcome,
} from '../../packages/foldout/src/adapters/contract.ts'
import type { AnyTool } from '../../packages/foldout/src/tools/tool.ts'
import { installPackages } from '../../tools/install-packages.ts'
import { removeFolder } from '../remove-folder.ts'

/** A request as sent. */
export interface WireRequest {
  readonly system: readonly { readonly text: string }[]
  readonly tools?: readonly { readonly name: string; readonly description: string; readonly input_schema: unknown }[]
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

/** Installs the SDK in a folder if it is missing, because it is too big for the root. */
export function installSdk(folder = import.meta.dirname): void {
  installPackages(folder, { withScripts: true })
}

export async function importSdk(folder = import.meta.dirname): Promise<ClaudeAgentSdk> {
  const require = createRequire(join(folder, 'here.js'))
  const load = async (name: string): Promise<object> => (await import(require.resolve(name))) as object
  const manifest = join(folder, 'node_modules/@anthropic-ai/claude-agent-sdk/package.json')
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }
  return {
    version,
    ...(await load('@anthropic-ai/claude-agent-sdk')),
    ...(await load('@modelcontextprotocol/sdk/server/index.js')),
    ...(await load('@modelcontextprotocol/sdk/types.js')),
  } as ClaudeAgentSdk
}

export interface Provider {
  readonly mock: LLMock
  readonly requests: WireRequest[]
  /** The executable's environment, without this machine's own configuration. */
  readonly env: Readonly<Record<string, string>>
  readonly home: string
  stop(): Promise<void>
}

/** A mock provider behind a proxy that records what was really sent. */
export async function startProvider(): Promise<Provider> {
  const mock = new LLMock({ port: 0 })
  await mock.start()
  const target = new URL(mock.url)
  const requests: WireRequest[] = []
  const proxy = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks)
      if (incoming.url?.startsWith('/v1/messages')) requests.push(JSON.parse(body.toString()) as WireRequest)
      const { url, method, headers } = incoming
      const upstream = httpRequest(
        { host: target.hostname, port: target.port, path: url, method, headers },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
          answer.pipe(outgoing)
        },
      )
      upstream.on('error', () => outgoing.destroy())
      upstream.end(body)
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const home = mkdtempSync(join(tmpdir(), 'foldout-claude-agent-'))
  return {
    mock,
    requests,
    home,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      CLAUDE_CONFIG_DIR: join(home, 'config'),
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      IS_SANDBOX: '1',
    },
    async stop() {
      proxy.closeAllConnections()
      proxy.close()
      await mock.stop()
      await removeFolder(home)
    },
  }
}

export interface Recording {
  readonly evaluation: Evaluation
  readonly messages: Message[]
  readonly events: ModelEvent[]
  readonly calls: ToolCall[][]
}

/** An evaluation whose tool calls `outcome` answers, with all events of the adapter. */
export function createEvaluation(
  given: { readonly tools: readonly AnyTool[]; readonly system?: string; readonly messages?: readonly Message[] },
  outcome: (calls: readonly ToolCall[]) => Promise<TurnOutcome> = () => Promise.reject(new Error('No tools here.')),
  signal = new AbortController().signal,
): Recording {
  const messages: Message[] = []
  const events: ModelEvent[] = []
  const calls: ToolCall[][] = []
  return {
    messages,
    events,
    calls,
    evaluation: {
      system: given.system ?? 'You are terse.',
      tools: given.tools,
      addedTools: new Map(),
      messages: given.messages ?? [{ role: 'user', text: 'Go.' }],
      output: undefined,
      signal,
      beforeRequest: async () => {},
      callTools: (asked) => {
        calls.push([...asked])
        return outcome(asked)
      },
      record: async (message) => void messages.push(message),
      emit: (event) => void events.push(event),
    },
  }
}

/** Processes of the SDK's executable that this process started and that are still running. */
export function runningExecutables(): readonly string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return parent === String(process.pid) && state !== 'Z' && command.includes('claude-agent-sdk')
      } catch {
        return false
      }
    })
}
