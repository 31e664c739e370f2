import { describe, expect, it } from 'vitest'
import { requestFromMcp } from './request.ts'
import { connect, LINES } from '../client/server.fixtures.ts'
import { toolsFromMcp } from './tools-from-mcp.ts'

const NO_RESULT = 'Its answer has no result.'

const ODD = [
  { what: 'null', fields: { result: null }, text: NO_RESULT },
  { what: 'a text', fields: { result: 'tools' }, text: NO_RESULT },
  { what: 'a list', fields: { result: [] }, text: NO_RESULT },
  { what: 'nothing', fields: {}, text: NO_RESULT },
  { what: 'a text as an error', fields: { error: 'bad' }, text: 'bad' },
  { what: 'a number as an error', fields: { error: 5 }, text: 'Its error has no message.' },
]

describe.each(LINES)('a server that answers with something else than an object, with a client of %s', (line) => {
  it.each(ODD)('fails to list its tools at once: $what', async ({ fields, text }) => {
    const { client } = await connect(line, { answerOddly: () => fields })
    await expect(toolsFromMcp(client)).rejects.toThrow(
      new RegExp(`^The MCP server 'handmade' did not list its tools: .*${text}$`),
    )
  })

  it.each(ODD)('fails other requests at once: $what', async ({ fields, text }) => {
    const { client } = await connect(line, { answerOddly: () => fields })
    await expect(requestFromMcp(client, 'prompts/list')).rejects.toThrow(text)
  })

  it('fails a call with what it says', async () => {
    const { client } = await connect(line, {
      answer: () => ({ tools: [{ name: 'act', inputSchema: { type: 'object' } }] }),
      answerOddly: ({ method }) => (method === 'tools/call' ? { error: 'bad' } : undefined),
    })
    const [tool] = await toolsFromMcp(client)
    expect((await tool?.call?.({}, {}))?.content[0]?.['text']).toBe(
      "The server 'handmade' rejected the call of 'act': bad",
    )
  })
})
