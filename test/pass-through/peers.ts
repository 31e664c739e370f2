import { PassThrough } from 'node:stream'
import {
  Client,
  ReadBuffer,
  serializeMessage,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Gateway } from '../../packages/foldout-mcp/src/gateway/gateway.ts'

export type Era = 'legacy' | 'modern'

/** The capabilities of test clients. */
const CAPABILITIES = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } }

/** A client that answers every question. */
export async function connect(transport: Transport, era: Era, capabilities: object = CAPABILITIES): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' } },
  )
  if (capabilities === CAPABILITIES) answerAll(client)
  await client.connect(transport)
  if (client.getProtocolEra() !== era) throw new Error(`The client speaks ${client.getProtocolEra()}, not ${era}.`)
  return client
}

export function connectHttp(url: string, era: Era, capabilities?: object): Promise<Client> {
  return connect(new StreamableHTTPClientTransport(new URL(url)), era, capabilities)
}

/** A client over the gateway's standard input and output. */
export async function connectStdio(gateway: Gateway, preset: string, era: Era, capabilities?: object): Promise<Client> {
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  await gateway.stdio({ stdin, stdout, preset })
  return connect(createStreamTransport(stdout, stdin), era, capabilities)
}

function createStreamTransport(input: PassThrough, output: PassThrough): Transport {
  const buffer = new ReadBuffer()
  const transport: Transport = {
    async start() {
      input.on('data', (chunk: Buffer) => {
        buffer.append(chunk)
        for (let message = buffer.readMessage(); message; message = buffer.readMessage()) transport.onmessage?.(message)
      })
    },
    async send(message) {
      output.write(serializeMessage(message))
    },
    async close() {
      output.end()
      transport.onclose?.()
    },
  }
  return transport
}

const questions = new WeakMap<Client, number>()

/** How many questions a client has been asked and has answered. */
export function countQuestions(client: Client): number {
  return questions.get(client) ?? 0
}

function answerAll(client: Client): void {
  const count = (): void => void questions.set(client, countQuestions(client) + 1)
  client.setRequestHandler('sampling/createMessage', async ({ params }) => {
    count()
    const { content } = params.messages[0] ?? {}
    return { role: 'assistant', content: { type: 'text', text: `To ${JSON.stringify(content)}` }, model: 'test-model' }
  })
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    count()
    return params.mode === 'url'
      ? { action: 'accept' }
      : { action: 'accept', content: { name: 'Ada', color: 'green', ok: true, username: params.message } }
  })
  client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///test/root', name: 'Test root' }] }))
}
