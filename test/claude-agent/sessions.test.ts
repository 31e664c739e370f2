import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claudeAgent, type ClaudeAgentSdk } from '../../packages/foldout/src/entries/claude-agent.ts'
import type { Message } from '../../packages/foldout/src/adapters/contract.ts'
import { outputSpec } from '../../packages/foldout/src/prompt/definition/output.ts'
import { createEvaluation, importSdk, installSdk, startProvider, type Provider } from './harness.ts'

let sdk: ClaudeAgentSdk
let provider: Provider

beforeAll(async () => {
  installSdk()
  sdk = await importSdk()
}, 300_000)
beforeEach(async () => {
  provider = await startProvider()
})
afterEach(() => provider.stop())

const adapt = (persistSession = false) =>
  claudeAgent({ model: 'claude-sonnet-4-5', sdk, env: provider.env, cwd: provider.home, persistSession })

describe('the real executable with an output', () => {
  const output = outputSpec({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  })

  it('holds the model to the schema, and gives the answer as the last message', async () => {
    provider.mock.on({}, { content: 'Here.', toolCalls: [{ name: 'StructuredOutput', arguments: { city: 'Rome' } }] })
    const { evaluation, messages } = createEvaluation({ tools: [] })
    const result = await adapt().evaluate({ ...evaluation, output })
    expect(result).toMatchObject({ type: 'final', text: '{"city":"Rome"}' })
    expect(messages).toEqual([{ role: 'assistant', text: '{"city":"Rome"}', toolCalls: [] }])
    expect(provider.requests[0]?.tools).toMatchObject([
      { name: 'StructuredOutput', input_schema: { type: 'object', required: ['city'] } },
    ])
  })

  it('accepts an answer as text if the model does not use the structured form', async () => {
    provider.mock.on({}, { content: '{"city":"Oslo"}' })
    const { evaluation } = createEvaluation({ tools: [] })
    const result = await adapt().evaluate({ ...evaluation, output })
    expect(result).toMatchObject({ type: 'final', text: '{"city":"Oslo"}' })
  })
})

describe('a session of the real executable', () => {
  const user = (text: string): Message => ({ role: 'user', text })

  async function converse(between: () => void = () => {}): Promise<string> {
    provider.mock.on({ userMessage: 'Second.' }, { content: 'Two.' })
    provider.mock.on({}, { content: 'One.' })
    const adapter = adapt(true)
    const first = createEvaluation({ tools: [], messages: [user('First.')] })
    await adapter.evaluate(first.evaluation)
    between()
    provider.requests.length = 0
    const stored = JSON.parse(JSON.stringify([user('First.'), ...first.messages, user('Second.')])) as Message[]
    const second = createEvaluation({ tools: [], messages: stored })
    expect(await adapter.evaluate(second.evaluation)).toMatchObject({ type: 'final', text: 'Two.' })
    return JSON.stringify(provider.requests.at(-1)?.messages)
  }

  it('continues with the next message', async () => {
    const sent = await converse()
    expect(sent).not.toContain('<conversation>')
    expect(sent).toContain('One.')
    expect(sent).toContain('Second.')
  })

  it('is replaced by a transcript if it is gone', async () => {
    const sent = await converse(() => rmSync(join(provider.home, 'config/projects'), { recursive: true }))
    expect(sent).toContain('<conversation>')
    expect(sent).toContain('One.')
  })
})
