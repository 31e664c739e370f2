import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Validator, type Schema } from '@cfworker/json-schema'
import { messagesRules } from './rules.ts'

/** A block of a reply, or of a request. */
export interface Block {
  readonly type: string
  readonly [key: string]: unknown
}

export interface Reply {
  readonly content: readonly Block[]
  readonly stop?: string
}

interface WireMessage {
  readonly role: string
  readonly content: readonly Block[]
}
interface WireTool {
  readonly name: string
  readonly type?: string
  readonly defer_loading?: boolean
  readonly input_schema?: Readonly<Record<string, unknown>>
}
export interface MessagesBody {
  readonly model: string
  readonly max_tokens: number
  readonly tools?: readonly WireTool[]
  readonly system?: readonly Block[]
  readonly messages: readonly WireMessage[]
  readonly output_config?: { readonly format?: unknown }
  readonly [key: string]: unknown
}
export interface MessagesRequest {
  readonly body: MessagesBody
  readonly betas: readonly string[]
}

/** The text of a refusal with status 400; undefined if the server accepts the request. */
export type Refusal = (request: MessagesRequest) => string | undefined

export interface StrictServer {
  readonly url: string
  readonly requests: readonly MessagesRequest[]
  /** The texts of its refusals. */
  readonly refused: readonly string[]
  stop(): Promise<void>
}

/**
 * A server for the Messages API that refuses what its documentation says is refused, and answers each other request
 * with the next reply. Thinking in its replies is bound to the conversation before it.
 */
export async function startStrictServer(
  replies: readonly Reply[],
  refusals: readonly Refusal[] = [],
): Promise<StrictServer> {
  const requests: MessagesRequest[] = []
  const refused: string[] = []
  let answered = 0
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = await readRequest(incoming)
    requests.push(request)
    const refusal = [...RULES, ...refusals].map((rule) => rule(request)).find((text) => text !== undefined)
    if (refusal === undefined) {
      sendReply(outgoing, bindThinking(replies[answered++], request.body))
      return
    }
    refused.push(refusal)
    outgoing.writeHead(400, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: refusal } }))
  }
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => outgoing.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    refused,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readRequest(incoming: IncomingMessage): Promise<MessagesRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return {
    body: JSON.parse(Buffer.concat(chunks).toString('utf8')) as MessagesBody,
    betas: readBetas(incoming.headers['anthropic-beta']),
  }
}

export function readBetas(header: unknown): readonly string[] {
  const betas = typeof header === 'string' ? header : ''
  return betas.split(',').filter((beta) => beta !== '')
}

const SCHEMA = JSON.parse(
  readFileSync(new URL('wire-schemas/anthropic-messages.json', import.meta.url), 'utf8'),
) as Schema
const validator = new Validator(SCHEMA, '7', false)

/** What the API refuses for every model. */
export const RULES: readonly Refusal[] = [
  ({ body }) => {
    const { valid, errors } = validator.validate(body)
    return valid ? undefined : `${errors.at(-1)?.instanceLocation}: ${errors.at(-1)?.error}`
  },
  ({ body }) => {
    // A paused reply may come last.
    const wrong = messagesRules(body).filter((text) => text !== 'the model has the last word')
    return wrong.length === 0 ? undefined : `messages: ${wrong.join('; ')}`
  },
  ({ body: { tools = [], messages } }) => {
    const added = messages.flatMap(({ content }) => content.map((block) => getDefinition(block)))
    const union = [...tools, ...added].findIndex(
      (tool) => tool?.input_schema && ['oneOf', 'anyOf', 'allOf'].some((key) => key in (tool.input_schema ?? {})),
    )
    if (union === -1) return undefined
    return `tools.${union}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`
  },
  ({ body: { messages } }) => {
    const failures = messages.flatMap(({ content }) => content.filter(({ is_error: isError }) => isError === true))
    if (failures.every(({ content }) => content !== undefined && content !== '')) return undefined
    return 'messages.2.content.0.tool_result: content cannot be empty if `is_error` is true'
  },
  ({ body: { messages } }) => {
    const results = messages.flatMap(({ content }) => content.flatMap((block) => block['content'] ?? []))
    const isEmpty = (block: unknown): boolean => (block as Block).type === 'text' && (block as Block)['text'] === ''
    return results.some(isEmpty) ? 'messages: text content blocks must be non-empty' : undefined
  },
  ({ body: { messages } }) => {
    const ends = messages.findIndex(({ role, content }) => role === 'assistant' && isThinking(content.at(-1)))
    return ends === -1 ? undefined : `messages.${ends}: The final block in an assistant message cannot be \`thinking\`.`
  },
  ({ body: { messages } }) => {
    const failed = messages.flatMap(({ content }) => content).some(isFailedCompaction)
    return failed ? 'messages.1.content.0: compaction blocks must have content' : undefined
  },
  ({ body }) => {
    const broken = body.messages.findIndex(({ content }, index) =>
      content.some((block, at) => !isBound(block, body, index, at)),
    )
    if (broken === -1) return undefined
    return `messages.${broken}.content.0: thinking block is bound to a different conversation`
  },
]

function getDefinition(block: Block): WireTool | undefined {
  return (block['tool'] as { readonly definition?: WireTool } | undefined)?.definition
}

const isThinking = (block: Block | undefined): boolean => /^(redacted_)?thinking$/.test(block?.type ?? '')

const isFailedCompaction = (block: Block): boolean => block.type === 'compaction' && block['content'] === null

/** The signature of thinking that follows this part of a conversation. */
export function sign(
  { system = [], tools = [], messages }: MessagesBody,
  until: number,
  blocks: readonly Block[],
): string {
  const loaded = tools.filter((tool) => tool.defer_loading !== true)
  const before = JSON.stringify([system, loaded, messages.slice(0, until), blocks], (key, value: unknown) =>
    key === 'cache_control' ? undefined : value,
  )
  return createHash('sha256').update(before).digest('base64')
}

function isBound(block: Block, body: MessagesBody, message: number, at: number): boolean {
  if (block.type !== 'thinking') return true
  return block['signature'] === sign(body, message, body.messages[message]?.content.slice(0, at) ?? [])
}

function bindThinking(reply: Reply | undefined, body: MessagesBody): Reply {
  if (reply === undefined) throw new Error('There are no more replies.')
  const last = body.messages.at(-1)
  const isPaused = last?.role === 'assistant'
  const until = body.messages.length - (isPaused ? 1 : 0)
  const content: Block[] = []
  for (const block of reply.content) {
    const before = [...(isPaused ? last.content : []), ...content]
    content.push(block.type === 'thinking' ? { ...block, signature: sign(body, until, before) } : block)
  }
  return { ...reply, content }
}

function sendReply(outgoing: ServerResponse, { content, stop }: Reply): void {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (event: { readonly type: string }): unknown =>
    outgoing.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const usage = { input_tokens: 10, output_tokens: 0 }
  send({ type: 'message_start', message: { id: 'msg', role: 'assistant', content: [], usage } } as { type: string })
  for (const [index, block] of content.entries()) {
    const { start, deltas } = toStream(block)
    send({ type: 'content_block_start', index, content_block: start } as { type: string })
    for (const delta of deltas) send({ type: 'content_block_delta', index, delta } as { type: string })
    send({ type: 'content_block_stop', index } as { type: string })
  }
  const reason = stop ?? (content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn')
  send({ type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 5 } } as { type: string })
  send({ type: 'message_stop' })
  outgoing.end()
}

/** A block as it starts in a stream, without the content of its deltas. */
function toStream(block: Block): { readonly start: Block; readonly deltas: readonly Block[] } {
  switch (block.type) {
    case 'text':
      return { start: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: block['text'] }] }
    case 'thinking':
      return {
        start: { ...block, thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: block['thinking'] },
          { type: 'signature_delta', signature: block['signature'] },
        ],
      }
    case 'tool_use':
    case 'server_tool_use':
      return {
        start: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }],
      }
    case 'compaction':
      return {
        start: { ...block, content: null, encrypted_content: null },
        deltas: [
          { type: 'compaction_delta', content: block['content'], encrypted_content: block['encrypted_content'] },
        ],
      }
    default:
      return { start: block, deltas: [] }
  }
}
