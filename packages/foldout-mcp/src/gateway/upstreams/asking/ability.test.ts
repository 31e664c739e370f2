import { isSpecType } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from 'foldout-shared/values'
import { findMistake } from './ability.ts'

const FORM = { message: 'Which?', requestedSchema: { type: 'object', properties: {} } }
const PAGE = { mode: 'url', message: 'Go.', url: 'https://example.com', elicitationId: '1' }
const SAMPLE = { messages: [], maxTokens: 1 }
const toForm = (field: unknown): JsonObject => ({
  ...FORM,
  requestedSchema: { type: 'object', properties: { field } },
})
const toSample = (content: unknown): JsonObject => ({ ...SAMPLE, messages: [{ role: 'user', content }] })

const FIELDS = [
  { type: 'string' },
  { type: 'string', format: 'email', minLength: 1, default: 'x' },
  { type: 'string', format: 'color' },
  { type: 'string', enum: ['a'], enumNames: ['A'] },
  { type: 'string', enum: 'a' },
  { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
  { type: 'string', oneOf: [{ const: 'a' }] },
  { type: 'array', items: { type: 'string', enum: ['a'] }, default: ['a'] },
  { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] }, maxItems: 2 },
  { type: 'array', items: { type: 'string' } },
  { type: 'integer', minimum: 1 },
  { type: 'number', minimum: '1' },
  { type: 'boolean', default: true },
  { type: 'boolean', default: 'yes' },
  { type: 'object', properties: {} },
  'string',
  null,
]
const CONTENTS = [
  { type: 'text', text: 'Hello', 'example/field': 1 },
  { type: 'text' },
  [{ type: 'text', text: 'Hello' }],
  { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  { type: 'image', data: 'no base64!', mimeType: 'image/png' },
  { type: 'audio', data: 'aGk=' },
  { type: 'tool_use', name: 'pay', id: '1', input: {} },
  { type: 'tool_use', name: 'pay', id: '1' },
  { type: 'tool_result', toolUseId: '1', content: [{ type: 'text', text: 'Done' }] },
  { type: 'tool_result', toolUseId: '1', content: [{ type: 'resource', resource: { uri: 'a:b', text: '' } }] },
  { type: 'tool_result', toolUseId: '1', content: 'Done' },
  { type: 'example' },
  'Hello',
  null,
]
const ELICITATIONS: readonly JsonObject[] = [
  FORM,
  { ...FORM, mode: 'form', 'example/field': 1, _meta: { a: 1 }, task: { ttl: 1 } },
  { ...FORM, mode: 'other' },
  { ...FORM, message: 5 },
  { ...FORM, requestedSchema: 'x' },
  { ...FORM, requestedSchema: { type: 'object' } },
  { ...FORM, requestedSchema: { type: 'object', properties: {}, required: 'a' } },
  { ...FORM, requestedSchema: { type: 'object', properties: [] } },
  { ...FORM, _meta: 5 },
  PAGE,
  { ...PAGE, url: 'nowhere' },
  { ...PAGE, elicitationId: 1 },
  {},
  ...FIELDS.map(toForm),
]
const SAMPLES: readonly JsonObject[] = [
  SAMPLE,
  { messages: 'none', maxTokens: 1 },
  { ...SAMPLE, maxTokens: '1' },
  { ...SAMPLE, maxTokens: 1.5 },
  { ...SAMPLE, messages: [{ role: 'system', content: { type: 'text', text: '' } }] },
  { ...SAMPLE, temperature: 1, systemPrompt: 'Be short.', stopSequences: ['.'], includeContext: 'none', metadata: {} },
  { ...SAMPLE, includeContext: 'everything' },
  { ...SAMPLE, metadata: 'none' },
  { ...SAMPLE, modelPreferences: { hints: [{ name: 'small' }], costPriority: 1 } },
  { ...SAMPLE, modelPreferences: { costPriority: 2 } },
  { ...SAMPLE, tools: [{ name: 'pay', inputSchema: { type: 'object' } }], toolChoice: { mode: 'auto' } },
  { ...SAMPLE, tools: [{ name: 'pay' }] },
  { ...SAMPLE, toolChoice: { mode: 'maybe' } },
  ...CONTENTS.map(toSample),
]

describe('R53 a question for a modern client', () => {
  it.each(ELICITATIONS)('is checked as the official SDK does: elicitation %j', (params) => {
    const method = 'elicitation/create'
    expect(findMistake(method, params) === undefined).toBe(isSpecType.ElicitRequest({ method, params }))
  })

  it.each(SAMPLES)('is checked as the official SDK does: sampling %j', (params) => {
    const method = 'sampling/createMessage'
    expect(findMistake(method, params) === undefined).toBe(isSpecType.CreateMessageRequest({ method, params }))
  })

  it('is refused with what is wrong', () => {
    expect(findMistake('elicitation/create', { ...FORM, message: 5 })).toMatchObject({
      code: -32_602,
      message: 'The parameters of \'elicitation/create\' are not as MCP defines them. "message" must be a string.',
    })
    expect(findMistake('example/invented', {})).toMatchObject({ code: -32_601 })
  })
})
