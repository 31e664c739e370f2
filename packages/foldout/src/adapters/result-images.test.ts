import { describe, expect, it } from 'vitest'
import { runAgent } from '../agent/loop/run-agent.ts'
import { definePrompt } from '../prompt/prompt.ts'
import { defineSection } from '../prompt/definition/section.ts'
import { calls, says, scriptedAdapter } from '../testing/scripted-adapter.ts'
import { ok } from '../tools/result.ts'
import { defineTool } from '../tools/tool.ts'
import { NO_ADDITIONS } from './ai-sdk/additions.ts'
import { toModelMessages } from './ai-sdk/messages.ts'
import { toWireConversation } from './anthropic/conversation.ts'
import type { ChatRequest, Message } from './contract.ts'
import { toResponseInput } from './openai/responses-input.ts'

const image = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }
const messages: readonly Message[] = [
  { role: 'user', text: 'Show me.' },
  { role: 'assistant', text: '', toolCalls: [{ id: 'c1', name: 'draw', arguments: {} }] },
  { role: 'tool', callId: 'c1', name: 'draw', text: 'A chart.', isError: false, images: [image] },
]
const request = { system: '', tools: [], addedTools: new Map(), messages } as unknown as ChatRequest
const wiring = {
  model: 'claude-opus-5-5',
  serverTools: [],
  additions: 'plain' as const,
  cacheControl: undefined,
  keepsThinking: false,
  refusedThinking: new Set<string>(),
}

describe('images in a tool result', () => {
  it('R37 are part of the conversation', async () => {
    const draw = defineTool({
      name: 'draw',
      description: 'Draws.',
      execute: () => ({ ...ok('A chart.'), images: [image] }),
    })
    const section = defineSection({ key: 'a', title: 'A', template: '', tools: [draw] })
    const adapter = scriptedAdapter([calls('draw'), says('Done.')])
    await runAgent(definePrompt({ ns: 't', key: 't', sections: [section] }).bind(), { adapter, input: 'Go.' })
    expect(adapter.requests[1]!.messages.at(-1)).toMatchObject({ text: 'A chart.', images: [image] })
  })

  it('R37 reach Anthropic as image blocks', () => {
    const wire = toWireConversation(request, wiring)
    expect(wire.params.messages.at(-1)!.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'c1',
        is_error: false,
        content: [
          { type: 'text', text: 'A chart.' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image.data } },
        ],
      },
    ])
  })

  it('R37 are left out if Anthropic does not accept their type, and the text is kept', () => {
    const [user, assistant, result] = messages as [Message, Message, Message & { role: 'tool' }]
    const other = { ...result, images: [{ mimeType: 'image/tiff', data: 'x' }] }
    const wire = toWireConversation({ ...request, messages: [user, assistant, other] }, wiring)
    expect(wire.params.messages.at(-1)!.content).toEqual([expect.objectContaining({ content: 'A chart.' })])
  })

  it('R37 reach OpenAI as input images', () => {
    expect(
      toResponseInput(request, {
        isNative: false,
        isStrict: false,
        hasNamespaces: false,
        hasReasoning: false,
        refused: new Set(),
      }).at(-1),
    ).toEqual({
      type: 'function_call_output',
      call_id: 'c1',
      output: [
        { type: 'input_text', text: 'A chart.' },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
      ],
    })
  })

  it('R37 reach models of the AI SDK as image data', () => {
    expect(
      toModelMessages(messages, {
        adapter: 'ai-sdk',
        hasMarks: false,
        quirks: new Set(),
        additions: NO_ADDITIONS,
      }).messages.at(-1),
    ).toMatchObject({
      content: [
        {
          output: {
            type: 'content',
            value: [
              { type: 'text', text: 'A chart.' },
              { type: 'image-data', mediaType: 'image/png', data: image.data },
            ],
          },
        },
      ],
    })
  })
})
