import { describe, expect, it } from 'vitest'
import { findQuirk, getKnownQuirks, getProviderQuirks, toShortId, type Quirk } from './quirks.ts'

describe('quirks', () => {
  // Reported error messages of real servers.
  it.each<[Quirk, string]>([
    ['reasoning-required', 'The `reasoning_content` in the thinking mode must be passed back to the API.'],
    [
      'reasoning-required',
      'thinking is enabled but reasoning_content is missing in assistant tool call message at index 7',
    ],
    ['reply-before-user', "Unexpected role 'user' after role 'tool'"],
    ['short-call-ids', 'Tool call id was call_0fypS1hVX but must be a-z, A-Z, 0-9, with a length of 9.'],
    [
      'signature-required',
      'Unable to submit request because function call `default_api:list` in the 3. content block is missing a `thought_signature`.',
    ],
    ['signature-required', "function call 'bash' in the 2. content block is missing a 'thought_signature'"],
    ['alternating-roles', 'Conversation roles must alternate user/assistant/user/assistant/...'],
    ['no-empty-replies', "Invalid request: the message at position 2 with role 'assistant' must not be empty"],
    [
      'plain-call-ids',
      "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40",
    ],
    ['signature-required', 'Function call is missing a thought_signature in functionCall parts.'],
  ])('%s is recognized in: %s', (quirk, refusal) => {
    expect(findQuirk(refusal, new Set())).toBe(quirk)
    expect(findQuirk(refusal, new Set([quirk]))).toBeUndefined()
  })

  it('are known for some hosts and providers', () => {
    expect(getKnownQuirks('https://api.openai.com/v1')).toEqual(['plain-call-ids'])
    expect(getKnownQuirks('https://eu.api.openai.com/v1')).toEqual(['plain-call-ids'])
    expect(getKnownQuirks('https://acme.openai.azure.com/openai/v1')).toEqual(['plain-call-ids'])
    expect(getKnownQuirks('https://vllm.westeurope.cloudapp.azure.com/v1')).toContain('format-without-tools')
    expect(getKnownQuirks('http://localhost:11434/v1')).toEqual(['format-without-tools'])
    expect(getKnownQuirks('https://api.moonshot.ai/v1')).toContain('reasoning-required')
    expect(getKnownQuirks('https://api.deepseek.com.evil.example/v1')).not.toContain('reasoning-required')
    expect(getProviderQuirks('openai.responses')).toEqual(['plain-call-ids', 'strict-tools'])
    expect(getProviderQuirks('vertex.anthropic.messages')).toEqual(['plain-call-ids'])
    expect(getProviderQuirks('openai-compatible.chat')).toEqual(['format-without-tools'])
    expect(getProviderQuirks('mistral.chat')).toEqual(['format-without-tools', 'reply-before-user', 'short-call-ids'])
  })

  it('shorten ids in a way that keeps calls and results together', () => {
    expect(toShortId('abcDEF123')).toBe('abcDEF123')
    expect(toShortId('call_1')).toMatch(/^[a-z0-9]{9}$/)
    expect(toShortId('call_1')).toBe(toShortId('call_1'))
    expect(toShortId('call_1')).not.toBe(toShortId('call_2'))
  })
})
