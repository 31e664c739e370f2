import { describe, expect, it } from 'vitest'
import type { MediaPart, ProviderAdapter } from '../adapters/contract.ts'
import { createSession } from '../session/session.ts'
import { definePrompt } from '../prompt/prompt.ts'
import { defineSection } from '../prompt/definition/section.ts'
import { createMemoryStore } from '../session/stores/memory-store.ts'
import { openSession } from '../session/stores/open-session.ts'
import { says, scriptedAdapter, type ScriptedAdapter } from '../testing/scripted-adapter.ts'
import type { AgentEvent } from './events.ts'
import { toUserMessage, type AgentInput } from './input.ts'
import { MAX_INPUT_BYTES, MAX_INPUT_PARTS } from './limits.ts'
import { agentRun } from './state/run-state.ts'
import { runAgent } from './loop/run-agent.ts'

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 1])
const PDF = new TextEncoder().encode('%PDF-1.7 …')
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const bound = definePrompt({
  ns: 'test',
  key: 'input',
  sections: [defineSection({ key: 'intro', title: 'Intro', template: 'You describe pictures.' })],
}).bind()

/** An adapter whose model accepts the input that a function does not reject. */
function looking(adapter: ScriptedAdapter, refuseInput: (part: MediaPart) => string | undefined = () => undefined) {
  return Object.assign(adapter, { refuseInput }) satisfies ProviderAdapter
}

/** An adapter that does not mention images and files. */
function blind(adapter: ScriptedAdapter): ScriptedAdapter {
  const { refuseInput: _, ...rest } = adapter
  return rest
}

describe('user input', () => {
  it('is a string, or a list of parts that keep their order', () => {
    expect(toUserMessage('Hello.')).toEqual({ role: 'user', text: 'Hello.' })
    expect(
      toUserMessage([
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ]),
    ).toEqual({ role: 'user', text: 'a\n\nb' })
    const message = toUserMessage([
      { type: 'text', text: 'What is this?' },
      { type: 'image', data: PNG },
      { type: 'text', text: 'And this?' },
      { type: 'file', data: base64(PDF), mediaType: 'Application/PDF; version=1.7', name: 'a.pdf' },
      { type: 'image', url: new URL('https://example.com/a.png') },
    ])
    expect(message).toEqual({
      role: 'user',
      text: 'What is this?\n\nAnd this?',
      parts: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', data: base64(PNG), mediaType: 'image/png' },
        { type: 'text', text: 'And this?' },
        { type: 'file', name: 'a.pdf', data: base64(PDF), mediaType: 'application/pdf' },
        { type: 'image', url: 'https://example.com/a.png' },
      ],
    })
  })

  it('may have data: URLs, which are decoded', () => {
    const read = (url: string, type: 'image' | 'file' = 'image') => toUserMessage([{ type, url }]).parts?.[0]
    expect(read(`data:image/png;base64,${base64(PNG)}`)).toEqual({
      type: 'image',
      data: base64(PNG),
      mediaType: 'image/png',
    })
    expect(read(`data:;base64,${base64(PNG)}`)).toMatchObject({ mediaType: 'image/png' })
    expect(read('data:text/plain,Gr%C3%BC%C3%9Fe', 'file')).toEqual({
      type: 'file',
      data: base64(new TextEncoder().encode('Grüße')),
      mediaType: 'text/plain',
    })
  })

  it('is refused with an http: address, which no provider loads', () => {
    expect(() => toUserMessage([{ type: 'image', url: 'http://example.com/a.png' }])).toThrowError(
      expect.objectContaining({ code: 'input-unsupported' }),
    )
  })

  it('keeps every byte', () => {
    const bytes = Uint8Array.from({ length: 200_001 }, (_, index) => (index * 7919) % 256)
    bytes.set(PNG)
    expect(toUserMessage([{ type: 'image', data: bytes }]).parts?.[0]).toMatchObject({ data: base64(bytes) })
  })

  const image = (fields: object): AgentInput => [{ type: 'image', ...fields } as never]
  const file = (fields: object): AgentInput => [{ type: 'file', ...fields } as never]
  it.each<[string, AgentInput, string]>([
    ['an empty list', [], 'at least one part'],
    ['no list', 7 as never, 'neither a string nor a list'],
    ['null', null as never, 'neither a string nor a list'],
    ['a part that is a text', ['Hello.'] as never, 'part 1'],
    ['a part without a type', [{ text: 'Hello.' }] as never, 'part 1'],
    ['an unknown type', [{ type: 'text', text: '' }, { type: '__proto__' }] as never, 'part 2'],
    ['a text that is not a string', [{ type: 'text', text: 7 }] as never, 'no text'],
    ['too many parts', Array.from({ length: MAX_INPUT_PARTS + 1 }, () => ({ type: 'text', text: '' })), 'parts'],
    ['neither data nor url', image({}), 'either data or url'],
    ['both data and url', image({ data: PNG, url: 'https://example.com' }), 'not both'],
    ['no bytes', image({ data: new Uint8Array(0) }), 'empty data'],
    ['something else than bytes', image({ data: [1, 2, 3] }), 'neither bytes nor'],
    ['a text that is not Base64', image({ data: 'not base64!' }), 'not Base64'],
    ['a data: URL as data', image({ data: 'data:image/png;base64,AAAA' }), 'a data: URL as url'],
    ['bytes of an unknown type', file({ data: Uint8Array.from([1, 2, 3]) }), 'add mediaType'],
    ['a mediaType that is not one', image({ data: PNG, mediaType: 'png' }), 'such as image/png'],
    ['a mediaType with a line break', image({ data: PNG, mediaType: 'image/png\r\nx: y' }), 'such as image/png'],
    [
      'another mediaType than that of the bytes',
      image({ data: PNG, mediaType: 'image/jpeg' }),
      'its bytes are image/png',
    ],
    [
      'bytes that are not of their mediaType',
      image({ data: PDF.slice(1), mediaType: 'image/gif' }),
      'its bytes are not',
    ],
    [
      'a page that says it is a PDF',
      file({ data: new TextEncoder().encode('<html>'), mediaType: 'application/pdf' }),
      'its bytes are not',
    ],
    ['an image that says it is text', file({ data: PNG, mediaType: 'text/plain' }), 'its bytes are image/png'],
    ['a file as an image', image({ data: PDF }), "everything else is a 'file'"],
    ['an image as a file', file({ data: PNG }), "images have the type 'image'"],
    ['an invalid url', image({ url: 'picture.png' }), 'invalid url'],
    ['a url that is not a string', image({ url: 7 }), 'not a string'],
    ['a path', file({ url: 'file:///etc/passwd' }), 'begins with file:'],
    ['a script', image({ url: 'javascript:alert(1)' }), 'begins with javascript:'],
    ['a url with a password', image({ url: 'https://me:secret@example.com/a.png' }), 'with a password'],
    ['a long url', image({ url: `https://example.com/${'a'.repeat(10_000)}` }), 'characters; at most'],
    ['a data: URL without content', image({ url: 'data:image/png' }), 'without a comma'],
    [
      'a data: URL of another type',
      image({ url: `data:image/png;base64,${base64(PNG)}`, mediaType: 'image/gif' }),
      'its data: URL says image/png',
    ],
    ['a data: URL that lies', image({ url: `data:image/jpeg;base64,${base64(PNG)}` }), 'its bytes are image/png'],
    ['a data: URL with broken escapes', file({ url: 'data:text/plain,%FF%' }), 'percent-encoded'],
    ['a name with a line break', file({ data: PDF, name: 'a\r\nb.pdf' }), 'control characters'],
    ['a long name', file({ data: PDF, name: 'a'.repeat(256) }), 'control characters'],
  ])('is rejected with the reason: %s', (_, input, problem) => {
    expect(() => toUserMessage(input)).toThrow(
      expect.objectContaining({ code: 'input-invalid', message: expect.stringContaining(problem) as string }),
    )
  })

  it.each<[string, AgentInput]>([
    ['bytes', [{ type: 'file', data: new Uint8Array(MAX_INPUT_BYTES + 1), mediaType: 'text/plain' }]],
    ['Base64', [{ type: 'file', data: 'AAAA'.repeat(MAX_INPUT_BYTES / 3 + 1), mediaType: 'text/plain' }]],
    ['a data: URL', [{ type: 'file', url: `data:text/plain,${'a'.repeat(MAX_INPUT_BYTES * 3 + 1)}` }]],
    [
      'several parts',
      [1, 2].map(() => ({
        type: 'file' as const,
        data: new Uint8Array(MAX_INPUT_BYTES / 2 + 1),
        mediaType: 'text/plain',
      })),
    ],
  ])('is rejected if it is larger than a provider accepts: %s', (_, input) => {
    expect(() => toUserMessage(input)).toThrow(/32 MB/)
  })
})

describe('images and files in a run', () => {
  const input: AgentInput = [
    { type: 'text', text: 'What is this?' },
    { type: 'image', data: PNG },
  ]
  const message = toUserMessage(input)

  it('reach the model and stay in the conversation, through a store and a snapshot', async () => {
    const store = createMemoryStore()
    const first = await openSession({ store, id: 'one' })
    await runAgent(bound, { adapter: looking(scriptedAdapter([says('A cat.')])), session: first, input })
    await first.saved()
    const again = await openSession({ store, id: 'one' })
    const adapter = looking(scriptedAdapter([says('Sure.'), says('Yes.')]))
    await runAgent(bound, { adapter, session: again, input: 'Sure?' })
    expect(adapter.requests[0]?.messages[0]).toEqual(message)
    const restored = createSession()
    restored.restore(JSON.parse(JSON.stringify(again.snapshot())))
    await runAgent(bound, { adapter, session: restored, input: 'Really?' })
    expect(adapter.requests[1]?.messages[0]).toEqual(message)
  })

  it('are described to listeners by type and size only', async () => {
    const events: AgentEvent[] = []
    const adapter = looking(scriptedAdapter([says('A cat.')]))
    await runAgent(bound, { adapter, input, onEvent: (event) => events.push(event) })
    expect(events[0]).toMatchObject({ type: 'run/started', input: 'What is this?\n\n[image/png, 1 KB]' })
    expect(JSON.stringify(events)).not.toContain(base64(PNG))
  })

  it.each<[string, ProviderAdapter]>([
    ['takes text only', blind(scriptedAdapter([]))],
    ['takes no PNG', looking(scriptedAdapter([]), () => 'Convert it.')],
  ])('are rejected before anything is sent or stored, if the model %s', async (_, adapter) => {
    const session = createSession()
    await expect(runAgent(bound, { adapter, session, input })).rejects.toMatchObject({ code: 'input-unsupported' })
    expect(session.get(agentRun)).toMatchObject({ status: 'new', messages: [] })
    const next = scriptedAdapter([says('Hello.')])
    expect(await runAgent(bound, { adapter: next, session, input: 'Hi.' })).toMatchObject({ text: 'Hello.' })
  })

  it('are described to a later model that does not accept them, with a warning', async () => {
    const session = createSession()
    await runAgent(bound, { adapter: looking(scriptedAdapter([says('A cat.')])), session, input })
    const other = blind(scriptedAdapter([says('I cannot see it.')]))
    const events: AgentEvent[] = []
    await runAgent(bound, { adapter: other, session, input: 'Sure?', onEvent: (event) => events.push(event) })
    expect(other.requests[0]?.messages[0]).toMatchObject({
      parts: [
        { type: 'text', text: 'What is this?' },
        { type: 'text', text: '[image/png, 1 KB]' },
      ],
    })
    expect(events.filter(({ type }) => type === 'warning')).toHaveLength(1)
    // The image is not lost.
    expect(session.get(agentRun).messages[0]).toEqual(message)
  })
})
