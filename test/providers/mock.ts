import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LLMock } from '@copilotkit/aimock'
import type { EarlyEnd, ModelStep } from '../../packages/foldout/src/testing/adapter-peer.ts'

/** A request as received. */
export interface RecordedRequest {
  readonly method: string
  readonly path: string
  /** Without secrets. */
  readonly headers: Readonly<Record<string, string>>
  readonly raw: string
  readonly body: Readonly<Record<string, unknown>>
  /** Whether the client closed the connection before it had the whole answer. */
  isGivenUp: boolean
}

/** What a provider does besides following the script. */
export interface Behavior {
  /** The text of a documented refusal with status 400. The script does not advance. */
  refuse?(request: RecordedRequest): string | undefined
  /** What it thinks before it replies to a request. */
  think?(request: RecordedRequest): { readonly reasoning: string; readonly reasoningSignature?: string }
  /** Whether it reports usage without being asked, and refuses to be asked. */
  readonly reportsUsage?: boolean
}

export interface MockProvider {
  /** Without a version: OpenAI's is `${url}/v1`. */
  readonly url: string
  readonly requests: readonly RecordedRequest[]
  stop(): Promise<void>
}

const ENDPOINTS = /^\/v1\/(chat\/completions|responses|messages)(\?|$)/
const SECRETS = new Set(['authorization', 'x-api-key', 'cookie'])
/** Characters of a text in one part of a streamed reply. */
const PART_LENGTH = 8
// For some providers, the mock repairs arguments that are not JSON. So it gets a placeholder, which the proxy replaces.
const STANDS_FOR_MALFORMED = '{"malformed":true}'

/**
 * A provider that answers each request it does not refuse with the next step, for clients of OpenAI's Chat Completions and Responses and of
 * Anthropic's Messages. aimock writes the responses; a proxy in front of it records them and breaks some.
 */
export async function startMockProvider(
  script: readonly ModelStep[],
  { refuse: refuseRequest, think, reportsUsage = false }: Behavior = {},
): Promise<MockProvider> {
  const requests: RecordedRequest[] = []
  let current: ModelStep | undefined
  let taken = 0
  const mock = await startModel(
    () => current,
    () => {
      const request = requests.at(-1)
      return request && think ? think(request) : {}
    },
  )
  const proxy = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => outgoing.destroy(error as Error))
  })

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    // Some clients send other requests too, such as health checks.
    if (!ENDPOINTS.test(incoming.url ?? '')) return refuse(outgoing, { refuses: 404 })
    const request = await record(incoming)
    requests.push(request)
    const refusal = refuseRequest?.(request)
    if (refusal !== undefined) return refuse(outgoing, { refuses: 400, message: refusal })
    const step = script[taken++]
    current = step
    const isCutByUs = step !== undefined && 'says' in step && step.ends?.how === 'cut'
    outgoing.on('close', () => {
      request.isGivenUp = !outgoing.writableFinished && !isCutByUs
    })
    if (step === undefined) return refuse(outgoing, { refuses: 418, message: 'The script has ended.' })
    if ('refuses' in step) return refuse(outgoing, step)
    const asked = reportsUsage
      ? JSON.stringify({ ...request.body, stream_options: { include_usage: true } })
      : request.raw
    await passOn({ ...request, raw: asked }, mock.url, outgoing, step)
  }

  // On a busy machine, a client may send its next request on a connection that was just closed for being idle.
  proxy.keepAliveTimeout = 0
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    requests,
    async stop() {
      proxy.closeAllConnections()
      await new Promise((resolve) => proxy.close(resolve))
      await mock.stop()
    },
  }
}

async function record(incoming: IncomingMessage): Promise<RecordedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const raw = Buffer.concat(chunks).toString('utf8')
  const headers = Object.entries(incoming.headers).filter(([name]) => !SECRETS.has(name))
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
    raw,
    body: JSON.parse(raw) as Record<string, unknown>,
    isGivenUp: false,
  }
}

async function startModel(
  current: () => ModelStep | undefined,
  think: () => object,
): Promise<{ url: string; stop(): Promise<void> }> {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', logLevel: 'silent' })
  const reply = () => ({ ...toReply(current()), ...think() })
  const isMalformed = () => malformedIn(current()) !== undefined
  // In one chunk, so that the placeholder for malformed arguments is in one piece.
  mock.on({ predicate: isMalformed }, reply, { chunkSize: 10_000 })
  mock.on({ predicate: () => true }, reply, { chunkSize: PART_LENGTH })
  await mock.start()
  return { url: mock.url, stop: () => mock.stop() }
}

function toReply(step: ModelStep | undefined) {
  if (step === undefined || 'refuses' in step) throw new Error('There is no reply to this request.')
  const usage = step.usage
    ? { usage: { input_tokens: step.usage.inputTokens, output_tokens: step.usage.outputTokens } }
    : {}
  if ('says' in step) return { content: step.says, ...usage }
  const toolCalls = step.calls.map(({ name, arguments: args = {}, malformed }) => ({
    name,
    arguments: malformed === undefined ? JSON.stringify(args) : STANDS_FOR_MALFORMED,
  }))
  return { toolCalls, ...usage }
}

function malformedIn(step: ModelStep | undefined): string | undefined {
  return step && 'calls' in step ? step.calls.find(({ malformed }) => malformed !== undefined)?.malformed : undefined
}

/** The error in a shape that both providers' clients read. */
function refuse(outgoing: ServerResponse, step: Extract<ModelStep, { readonly refuses: number }>): void {
  const { refuses: status, message = 'Refused.', headers = {} } = step
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers })
  outgoing.end(JSON.stringify({ type: 'error', error: { type: 'error', message } }))
}

async function passOn(
  { method, path, raw, headers }: RecordedRequest,
  url: string,
  outgoing: ServerResponse,
  step: ModelStep,
): Promise<void> {
  const { 'content-length': _, host: __, connection: ___, ...kept } = headers
  // A separate connection, for the same reason.
  const options = { method, headers: { ...kept, authorization: 'Bearer mock' }, agent: false }
  const upstream = httpRequest(`${url}${path}`, options)
  outgoing.on('close', () => upstream.destroy())
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    upstream.once('response', resolve).once('error', reject).end(raw)
  })
  outgoing.writeHead(response.statusCode ?? 502, {
    'content-type': response.headers['content-type'] ?? 'application/json',
  })
  for await (const event of eventsOf(response)) {
    const ends = endsAt(step, event)
    if (ends?.where !== 'before text') outgoing.write(mangle(step, event))
    if (ends === undefined) continue
    // The beginning of an event too, as when a connection is lost.
    if (ends.how === 'cut') outgoing.write('data: {"', () => outgoing.destroy())
    if (ends.how === 'closed') outgoing.end()
    return
  }
  outgoing.end()
}

/** The events of a stream, each with the empty line after it. */
async function* eventsOf(response: IncomingMessage): AsyncGenerator<string> {
  response.setEncoding('utf8')
  let rest = ''
  for await (const chunk of response) {
    rest += chunk as string
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      yield rest.slice(0, end + 2)
      rest = rest.slice(end + 2)
    }
  }
  if (rest !== '') yield rest
}

/** How the reply ends at this event, if it does. */
function endsAt(step: ModelStep, event: string): EarlyEnd | undefined {
  if (!('says' in step) || !event.includes(asInJson(step.says.slice(0, PART_LENGTH)))) return undefined
  return step.ends
}

function mangle(step: ModelStep, event: string): string {
  const malformed = malformedIn(step)
  return malformed === undefined ? event : event.replaceAll(asInJson(STANDS_FOR_MALFORMED), asInJson(malformed))
}

/** A text as it appears inside a JSON string. */
const asInJson = (text: string): string => JSON.stringify(text).slice(1, -1)
