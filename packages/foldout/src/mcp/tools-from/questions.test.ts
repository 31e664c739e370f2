import { describe, expect, it, vi } from 'vitest'
import { answerQuestions } from './questions.ts'

const question = (text: string): unknown => ({
  resultType: 'input_required',
  inputRequests: JSON.parse(text) as unknown,
  requestState: 'step-1',
})

const { signal } = new AbortController()

describe('the questions of a modern server', () => {
  it('are sent to a legacy client one by one, whatever their names are', async () => {
    const ask = vi.fn(async (method: string) => ({ method }))
    const send = vi.fn(async () => ({ content: [] }))
    const asked = question(
      '{"__proto__": {"method": "roots/list"}, "b": {"method": "elicitation/create", "params": 7}}',
    )
    expect(await answerQuestions(asked, ask, signal, send)).toEqual({ content: [] })
    expect(ask.mock.calls).toEqual([
      ['roots/list', {}, signal],
      ['elicitation/create', {}, signal],
    ])
    const [[{ responses, state }]] = send.mock.calls as unknown as [[{ responses: object; state: string }]]
    expect(Object.entries(responses)).toEqual([
      ['__proto__', { method: 'roots/list' }],
      ['b', { method: 'elicitation/create' }],
    ])
    expect(state).toBe('step-1')
  })

  it('are left to a client that cannot be asked, and are not answered forever', async () => {
    const asked = question('{}')
    expect(await answerQuestions(asked, undefined, signal, async () => asked)).toBe(asked)
    const ask = async () => ({})
    await expect(answerQuestions(asked, ask, signal, async () => asked)).rejects.toThrow(/asked more than 10 times/)
  })

  it('name the page that a user is sent to, because legacy clients require a name', async () => {
    const ask = vi.fn(async (_method: string, _params: object) => ({ action: 'accept' }))
    const page = { mode: 'url', message: 'Go there.', url: 'https://example.com' }
    const requests = {
      a: { method: 'elicitation/create', params: page },
      b: { method: 'elicitation/create', params: { ...page, elicitationId: 'own' } },
      c: { method: 'elicitation/create', params: { message: 'Which?' } },
    }
    await answerQuestions(question(JSON.stringify(requests)), ask, signal, async () => ({ content: [] }))
    expect(ask.mock.calls.map(([, params]) => params)).toEqual([
      { ...page, elicitationId: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown },
      { ...page, elicitationId: 'own' },
      { message: 'Which?' },
    ])
  })

  it.each([
    ['Invalid elicitation request: [\n  {\n    "code": "invalid_type"\n  }\n]', 'Invalid elicitation request.'],
    ['The user said no.', 'The user said no.'],
    ['x'.repeat(1_000_000), `${'x'.repeat(300)}…`],
  ])('fail in one sentence that does not blame the server', async (message, said) => {
    const ask = () => Promise.reject(Object.assign(new Error(message), { code: -32_602 }))
    const asked = question('{"a": {"method": "elicitation/create"}}')
    const failure: unknown = await answerQuestions(asked, ask, signal, async () => asked).catch(
      (error: unknown) => error,
    )
    expect(failure).toEqual(new Error(`The client did not answer 'elicitation/create': ${said}`))
    expect(failure).not.toHaveProperty('code')
  })
})
