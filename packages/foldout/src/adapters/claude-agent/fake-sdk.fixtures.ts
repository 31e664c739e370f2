import type { Evaluation, Message, ModelEvent, ToolCall, TurnOutcome } from '../contract.ts'
import type { ClaudeAgentSdk, SdkBlock, SdkMessage, SdkQuery, SdkRequest, SdkUsage } from './sdk.ts'

/** The actions of a script, which plays the executable. */
export interface Host {
  readonly prompt: string
  readonly options: Readonly<Record<string, unknown>>
  /** Lists the tools, as the executable does. */
  list(): Promise<readonly string[]>
  /** Asks to run a tool. */
  call(name: string, args: unknown, id?: string): Promise<unknown>
}

export interface FakeSdk extends ClaudeAgentSdk {
  /** The actions so far, in order: `interrupt`, `close`, `list_changed`. */
  readonly done: string[]
  readonly hosts: Host[]
}

export type Script = (host: Host) => AsyncGenerator<SdkMessage, void>

type Handler = (request: SdkRequest) => Promise<unknown>

/** An SDK whose queries each play one script. `onListChanged` is the executable's response to a changed list. */
export function fakeSdk(
  scripts: readonly Script[],
  { version = '0.3.325', onListChanged = (host: Host): unknown => host.list() } = {},
): FakeSdk {
  const done: string[] = []
  const hosts: Host[] = []
  class Server {
    readonly handlers = new Map<unknown, Handler>()
    setRequestHandler(schema: unknown, handler: Handler): void {
      this.handlers.set(schema, handler)
    }
    async sendToolListChanged(): Promise<void> {
      done.push('list_changed')
      void onListChanged(hosts.at(-1)!)
    }
  }
  return {
    version,
    done,
    hosts,
    Server,
    ListToolsRequestSchema: 'list',
    CallToolRequestSchema: 'call',
    query({ prompt, options }) {
      const { foldout } = options['mcpServers'] as { readonly foldout: { readonly instance: Server } }
      const ask = (schema: string, request: SdkRequest): Promise<unknown> =>
        foldout.instance.handlers.get(schema)!(request)
      const host: Host = {
        prompt: prompt as string,
        options,
        async list() {
          const { tools } = (await ask('list', {})) as { readonly tools: readonly { readonly name: string }[] }
          done.push(`listed ${tools.map(({ name }) => name).join(' ')}`)
          return tools.map(({ name }) => name)
        },
        call: (name, args, id) =>
          ask('call', {
            params: { name, arguments: args, ...(id === undefined ? {} : { _meta: { 'claudecode/toolUseId': id } }) },
          }),
      }
      hosts.push(host)
      return play(scripts[hosts.length - 1]!(host), done)
    },
  }
}

function play(messages: AsyncGenerator<SdkMessage, void>, done: string[]): SdkQuery {
  let close: (() => void) | undefined
  const closed = new Promise<IteratorResult<SdkMessage>>((resolve) => {
    close = () => resolve({ done: true, value: undefined })
  })
  return {
    next: () => Promise.race([messages.next(), closed]),
    return: async () => undefined,
    interrupt: async () => void done.push('interrupt'),
    close() {
      done.push('close')
      close?.()
    },
  }
}

let replies = 0

export const init = (...capabilities: readonly string[]): SdkMessage => ({
  type: 'system',
  subtype: 'init',
  capabilities,
})
export const dynamic = init('sdk_mcp_tools_list_changed')
export const requesting: SdkMessage = { type: 'system', subtype: 'status', status: 'requesting' }
export const text = (said: string): SdkBlock => ({ type: 'text', text: said })
export const use = (id: string, name: string, input: unknown): SdkBlock => ({ type: 'tool_use', id, name, input })
export const done = (said: string, extra: object = {}): SdkMessage => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result: said,
  ...extra,
})

/** The events of a reply, and its final event. */
export function replyParts(blocks: readonly SdkBlock[], usage: SdkUsage = {}): readonly [SdkMessage[], SdkMessage[]] {
  const id = `msg_${++replies}`
  const { output_tokens: output = 0, ...input } = usage
  const parts = blocks.flatMap((block): SdkMessage[] => [
    ...(block.type === 'text'
      ? [event({ type: 'content_block_delta', delta: { type: 'text_delta', text: block.text! } })]
      : []),
    { type: 'assistant', message: { id, content: [block] } },
  ])
  return [
    [event({ type: 'message_start', message: { id, usage: input } }), ...parts],
    [event({ type: 'message_delta', usage: { output_tokens: output } }), event({ type: 'message_stop' })],
  ]
}

/** A whole reply, streamed. */
export function reply(blocks: readonly SdkBlock[], usage?: SdkUsage): readonly SdkMessage[] {
  return replyParts(blocks, usage).flat()
}

type StreamEvent = Extract<SdkMessage, { type: 'stream_event' }>['event']
const event = (event: StreamEvent): SdkMessage => ({ type: 'stream_event', event })

export interface Recording {
  readonly evaluation: Evaluation
  readonly messages: Message[]
  readonly events: ModelEvent[]
  readonly turns: (readonly ToolCall[])[]
}

/**
 * An evaluation that records everything that the adapter emits. Tools answer with their name, unless `given` says
 * otherwise.
 */
export function recorded(given: Partial<Evaluation> = {}): Recording {
  const messages: Message[] = []
  const events: ModelEvent[] = []
  const turns: (readonly ToolCall[])[] = []
  const answer = given.callTools ?? (async (calls) => proceed(calls))
  return {
    messages,
    events,
    turns,
    evaluation: {
      system: 'You are terse.',
      tools: [],
      addedTools: new Map(),
      messages: [{ role: 'user', text: 'Go.' }],
      output: undefined,
      signal: new AbortController().signal,
      beforeRequest: async () => {},
      record: async (message) => void messages.push(message),
      emit: (event) => void events.push(event),
      ...given,
      callTools: (calls) => {
        turns.push(calls)
        return answer(calls)
      },
    },
  }
}

export const proceed = (calls: readonly ToolCall[]): TurnOutcome => ({
  type: 'continue',
  added: [],
  results: calls.map(({ id, name }) => ({
    role: 'tool',
    callId: id,
    name,
    text: `${name} was here`,
    isError: false,
  })),
})
