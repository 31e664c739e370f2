import { afterEach, describe, expect, it, vi } from 'vitest'
import { anthropic, type AnthropicOptions } from '../../entries/anthropic.ts'
import { ask, HELLO, recordBodies, toolNamed, type Asked, type WireBody } from './harness.fixtures.ts'

const ADDED: Asked = {
  messages: [HELLO, { role: 'tools', names: ['tool_a'] }],
  addedTools: new Map([['tool_a', toolNamed('tool_a')]]),
}
const hasAdditions = ({ messages }: WireBody): boolean => messages.some(({ role }) => role === 'system')

afterEach(() => void vi.unstubAllEnvs())

describe('anthropic at different addresses', () => {
  it.each<[string, boolean, Partial<AnthropicOptions>, string?]>([
    ['no address', true, {}],
    ["Anthropic's address", true, { baseURL: 'https://api.anthropic.com' }],
    ["a region of Anthropic's", true, { baseURL: 'https://eu.api.anthropic.com/' }],
    ['a client of Bedrock', true, {}, 'https://bedrock-runtime.us-east-1.amazonaws.com'],
    ['a client of Claude on AWS', true, {}, 'https://aws-external-anthropic.us-east-1.api.aws'],
    ['a client of Vertex', true, {}, 'https://us-east5-aiplatform.googleapis.com/v1'],
    ['a client of Foundry', true, {}, 'https://resource.services.ai.azure.com/anthropic/'],
    ['a private endpoint of Bedrock', true, {}, 'https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com'],
    ['a rented machine of AWS', false, {}, 'http://ec2-3-4-5-6.compute-1.amazonaws.com:8000'],
    ['a rented machine of Azure', false, {}, 'https://proxy.westeurope.cloudapp.azure.com'],
    ['DeepSeek', false, { baseURL: 'https://api.deepseek.com/anthropic' }],
    ['a proxy on this machine', false, { baseURL: 'http://localhost:4000' }],
    ['a host that contains the name', false, { baseURL: 'https://api.anthropic.com.proxy.test' }],
    ['another host with the same ending', false, { baseURL: 'https://notanthropic.com' }],
    ['an address that is none', false, { baseURL: 'proxy' }],
    ["a client's address before the option", false, { baseURL: 'https://api.anthropic.com' }, 'https://proxy.test'],
    ['a proxy that is asked to', true, { baseURL: 'https://proxy.test', toolAdditions: 'native' }],
    ['Anthropic, asked not to', false, { toolAdditions: 'plain' }],
  ])(
    'R42 adds tools within the conversation only where that is known to work: %s',
    async (_, isNative, options, address) => {
      const { bodies, client } = recordBodies()
      const adapter = anthropic({
        model: 'claude-opus-5-5',
        client: Object.assign(client, { baseURL: address }),
        ...options,
      })
      await ask(adapter, ADDED)
      expect(bodies.map(hasAdditions)).toEqual([isNative])
      expect(bodies.map(({ betas }) => betas !== undefined)).toEqual([isNative])
      expect(bodies.map(({ tools = [] }) => tools.map(({ name }) => name))).toEqual([isNative ? [] : ['tool_a']])
    },
  )

  it('R42 reads the address from the environment, as the SDK does', async () => {
    vi.stubEnv('ANTHROPIC_BASE_URL', 'https://proxy.test')
    const { bodies, client } = recordBodies()
    const adapter = anthropic({ model: 'claude-opus-5-5', client })
    await ask(adapter, ADDED)
    expect(bodies.map(hasAdditions)).toEqual([false])
  })
})
