import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** The parts of both APIs' bodies that are read here. */
export interface Body {
  readonly tools?: readonly Tool[]
  readonly messages?: readonly ChatMessage[]
  readonly input?: readonly { readonly type?: string; readonly id?: string }[]
  readonly response_format?: object
  readonly [field: string]: unknown
}
interface Tool {
  readonly type: string
  readonly parameters?: Schema
  readonly function?: { readonly name: string; readonly parameters: Schema }
}
type Schema = Readonly<Record<string, unknown>>
export interface ChatMessage {
  readonly role: string
  readonly content?: unknown
  readonly reasoning_content?: unknown
  readonly reasoning_details?: unknown
  readonly tool_call_id?: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly arguments: string }
    readonly extra_content?: { readonly google?: { readonly thought_signature?: string } }
  }[]
}

/** The text of a refusal with status 400; undefined if the request is accepted. */
export type Refusal = (body: Body) => string | undefined

export interface RefusingServer extends AsyncDisposable {
  readonly url: string
  readonly requests: readonly Body[]
}

/** A server that refuses requests as documented, and answers the others with the next reply of its script. */
export async function startRefusingServer(
  refusals: readonly Refusal[],
  ...script: readonly (readonly object[])[]
): Promise<RefusingServer> {
  const requests: Body[] = []
  const left = [...script]
  const server = createServer((incoming, response) => {
    const answer = async (): Promise<void> => {
      const body = JSON.parse(await text(incoming)) as Body
      requests.push(body)
      const message = refusals.map((refuse) => refuse(body)).find((said) => said !== undefined)
      const reply = message === undefined ? left.shift() : undefined
      if (reply === undefined) refuse(response, message ?? 'The script has ended.')
      else stream(response, reply)
    }
    answer().catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function refuse(response: ServerResponse, message: string): void {
  response.writeHead(400, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: null } }))
}

function stream(response: ServerResponse, events: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end([...events.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''))
}

const DATA = new Set(['default', 'enum', 'const', 'examples'])

/** How OpenAI, LM Studio and Gemini check tool schemas. */
export const onToolSchemas: Refusal = ({ tools = [] }) => {
  for (const tool of tools) {
    if (tool.type !== 'function') continue
    const schema = tool.function?.parameters ?? tool.parameters ?? {}
    const alternatives = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'].some((keyword) => keyword in schema)
    if (schema['type'] !== 'object' || alternatives)
      return `Invalid schema for function: schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.`
    const gap = findGap(schema)
    if (gap !== undefined) return `Invalid schema for function: ${gap}.`
  }
  return undefined
}

function findGap(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  const types = new Set([(schema as Schema)['type']].flat())
  if (types.has('object') && !('properties' in schema)) return 'object schema missing properties'
  if (types.has('array') && !('items' in schema)) return 'array schema missing items'
  const inner = Object.entries(schema).filter(([keyword]) => !DATA.has(keyword))
  return inner.map(([, value]) => findGap(value)).find((gap) => gap !== undefined)
}

/** DeepSeek with thinking. */
export const onMissingReasoning: Refusal = ({ messages = [] }) =>
  messages.some(({ tool_calls: calls, reasoning_content: text }) => calls && typeof text !== 'string')
    ? 'The `reasoning_content` in the thinking mode must be passed back to the API.'
    : undefined

/** Groq, and servers that accept only OpenAI's fields. */
export const onPassedReasoning: Refusal = ({ messages = [] }) =>
  messages.some((message) => 'reasoning_content' in message)
    ? "'messages.1' : property 'reasoning_content' is unsupported"
    : undefined

/** Gemini 3. */
export const onMissingSignature: Refusal = ({ messages = [] }) =>
  messages.some(({ tool_calls: calls }) => calls && !calls[0]?.extra_content?.google?.thought_signature)
    ? 'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.'
    : undefined

/** How Mistral checks the order of messages. */
export const onUserAfterTool: Refusal = ({ messages = [] }) =>
  messages.some(({ role }, index) => role === 'user' && messages[index - 1]?.role === 'tool')
    ? "Unexpected role 'user' after role 'tool'"
    : undefined

/** How Mistral checks call ids. */
export const onLongCallIds: Refusal = ({ messages = [] }) => {
  const ids = messages.flatMap(({ tool_calls: calls = [], tool_call_id: id }) => [
    ...calls.map((call) => call.id),
    ...(id === undefined ? [] : [id]),
  ])
  const wrong = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id))
  return wrong === undefined ? undefined : `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`
}

/** Servers that do not accept a format together with tools, each in its own words. */
export const onFormatBesideTools =
  (message: string): Refusal =>
  ({ tools = [], response_format: format }) =>
    tools.length > 0 && format ? message : undefined

/** A message may leave out its type. */
function getKind(item: { readonly type?: string; readonly role?: string } | undefined): string {
  return item?.type ?? (item?.role === undefined ? '' : 'message')
}

/** How OpenAI's Responses checks reasoning that nothing follows. */
export const onLoneReasoning: Refusal = ({ input = [] }) => {
  const lone = input.find(
    ({ type }, index) =>
      type === 'reasoning' && !['reasoning', 'message', 'function_call'].includes(getKind(input[index + 1])),
  )
  return lone && `Item '${lone.id}' of type 'reasoning' was provided without its required following item.`
}
