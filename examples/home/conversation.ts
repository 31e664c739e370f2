// A scripted model that talks to the home with the official MCP client.
import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client'

export const question = 'Dim the lights in the living room to 30 %, please.'

export interface Call {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** What the model receives before the first question. */
export interface Opening {
  readonly era: string
  readonly instructions: string
  readonly tools: readonly Tool[]
}

export interface Exchange {
  readonly call: Call
  readonly answer: string
}

export interface Conversation extends Opening {
  readonly exchanges: readonly Exchange[]
}

const dim: Call = { name: 'control_zone_lights', arguments: { zone_id: 'living-room', brightness: 30 } }
const look: Call = { name: 'get_states', arguments: { zone_id: 'living-room', device_class: 'light' } }

/** If everything is listed, the model simply calls the tool. */
export const directly: readonly Call[] = [look, dim, look]

/** If the tool is hidden, the model searches for it in the user's words and runs it by name. */
export const bySearch: readonly Call[] = [
  look,
  { name: 'search_tools', arguments: { query: 'dim the lights in the living room' } },
  { name: 'use_tool', arguments: { ...dim } },
  look,
]

export interface Narrator {
  opened?(opening: Opening): void
  exchanged?(exchange: Exchange): void
}

export async function converse(url: string, script: readonly Call[], narrator: Narrator = {}): Promise<Conversation> {
  const client = await connect(url, 'auto')
  try {
    const opening = await getOpening(client)
    narrator.opened?.(opening)
    const exchanges: Exchange[] = []
    for (const call of script) {
      const exchange = { call, answer: await getAnswer(client, call) }
      narrator.exchanged?.(exchange)
      exchanges.push(exchange)
    }
    return { ...opening, exchanges }
  } finally {
    await client.close()
  }
}

/** What a client of a protocol version before 2026-07-28 receives. */
export async function legacyOpening(url: string): Promise<Opening> {
  const client = await connect(url, 'legacy')
  try {
    return await getOpening(client)
  } finally {
    await client.close()
  }
}

async function connect(url: string, mode: 'auto' | 'legacy'): Promise<Client> {
  const client = new Client({ name: 'scripted-model', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return client
}

async function getOpening(client: Client): Promise<Opening> {
  const { tools } = await client.listTools()
  return {
    era: `${client.getProtocolEra()} era, protocol ${client.getNegotiatedProtocolVersion()}`,
    instructions: client.getInstructions() ?? '',
    tools,
  }
}

async function getAnswer(client: Client, call: Call): Promise<string> {
  const { content, isError } = await client.callTool({ ...call })
  const text = content.map((part) => (part.type === 'text' ? part.text : `<${part.type}>`)).join('\n')
  assert(!isError, text)
  return text
}
