import { describe, expect, it, onTestFinished } from 'vitest'
import { aiSdk } from '../../packages/foldout/src/entries/ai-sdk.ts'
import { anthropic } from '../../packages/foldout/src/entries/anthropic.ts'
import { definePrompt, defineSection, runAgent, type AgentInput } from '../../packages/foldout/src/entries/index.ts'
import { openai, openaiCompatible } from '../../packages/foldout/src/entries/openai.ts'
import type { ProviderAdapter } from '../../packages/foldout/src/adapters/contract.ts'
import { scriptedModel } from './ai-sdk-model.ts'
import { anthropicBehavior, openaiBehavior } from './behavior.ts'
import { startMockProvider, type Behavior, type MockProvider } from './mock.ts'
import { chatWire, messagesWire, responsesWire, type Wire } from './wires.ts'

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1])
const PDF = Buffer.from('%PDF-1.7')
const png = PNG.toString('base64')
const pdf = PDF.toString('base64')

const bound = definePrompt({
  ns: 'test',
  key: 'pictures',
  sections: [defineSection({ key: 'intro', title: 'Intro', template: 'You look at pictures.' })],
}).bind()

const text = { type: 'text' as const, text: 'What is this?' }
const image = { type: 'image' as const, data: PNG }
const imageAddress = { type: 'image' as const, url: 'https://example.com/a.png' }
const file = { type: 'file' as const, data: PDF, name: 'a.pdf' }
const fileAddress = { type: 'file' as const, url: 'https://example.com/a.pdf' }
const note = { type: 'file' as const, data: Buffer.from('Grüße'), mediaType: 'text/plain', name: 'note.txt' }

const apiKey = 'no-secret'
interface Case {
  readonly wire: Wire
  readonly behavior: Behavior
  create(url: string): ProviderAdapter
}
const CASES: Readonly<Record<'responses' | 'chat' | 'anthropic', Case>> = {
  responses: {
    wire: responsesWire('plain'),
    behavior: openaiBehavior,
    create: (url) => openai({ model: 'gpt-5', apiKey, baseURL: `${url}/v1` }),
  },
  chat: {
    wire: chatWire(),
    behavior: openaiBehavior,
    create: (url) => openai({ model: 'gpt-5', apiKey, baseURL: `${url}/v1`, interface: 'chat' }),
  },
  anthropic: {
    wire: messagesWire('native'),
    behavior: anthropicBehavior,
    create: (url) => anthropic({ model: 'claude-opus-5-5', apiKey, baseURL: url }),
  },
}

async function start({ behavior }: Pick<Case, 'behavior'>): Promise<MockProvider> {
  const provider = await startMockProvider([{ says: 'A cat.' }], behavior)
  onTestFinished(() => provider.stop())
  return provider
}

/** The user's content as the provider got it, after the request was checked against the provider's own types. */
async function send(name: keyof typeof CASES, input: AgentInput): Promise<unknown> {
  const { wire, create, ...rest } = CASES[name]
  const provider = await start(rest)
  expect(await runAgent(bound, { adapter: create(provider.url), input })).toMatchObject({ text: 'A cat.' })
  const [request] = provider.requests
  if (request === undefined || provider.requests.length > 1) throw new Error('There is not just one request.')
  wire.check(request)
  const { messages, input: items } = request.body as Record<
    'messages' | 'input',
    readonly { role: string; content: unknown }[]
  >
  return (messages ?? items).find(({ role }) => role === 'user')?.content
}

describe('images and files in the input', () => {
  it('Responses', async () => {
    expect(await send('responses', [text, image, imageAddress, file, fileAddress])).toEqual([
      { type: 'input_text', text: 'What is this?' },
      { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${png}` },
      { type: 'input_image', detail: 'auto', image_url: 'https://example.com/a.png' },
      { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
    ])
  })

  it('Chat Completions', async () => {
    expect(await send('chat', [text, image, imageAddress, file])).toEqual([
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
    ])
  })

  it('Anthropic, with the mark for the cache on the last of them', async () => {
    expect(
      await send('anthropic', [text, { type: 'text', text: ' ' }, image, imageAddress, file, fileAddress, note]),
    ).toEqual([
      { type: 'text', text: 'What is this?' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf }, title: 'a.pdf' },
      { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'Grüße' },
        title: 'note.txt',
        cache_control: { type: 'ephemeral' },
      },
    ])
  })

  it('Anthropic, without a text', async () => {
    expect(await send('anthropic', [image])).toMatchObject([{ type: 'image' }])
  })

  it('the AI SDK', async () => {
    const supportedUrls = { 'image/*': [/^https:/], 'application/pdf': [/^https:/] }
    const { model, requests } = scriptedModel([{ says: 'A cat.' }], { supportedUrls })
    await runAgent(bound, { adapter: aiSdk({ model }), input: [text, image, imageAddress, file, fileAddress] })
    expect(requests[0]?.options.prompt.at(-1)?.content).toMatchObject([
      { type: 'text', text: 'What is this?' },
      { type: 'file', mediaType: 'image/png', data: png },
      { type: 'file', mediaType: 'image/*', data: new URL('https://example.com/a.png') },
      { type: 'file', mediaType: 'application/pdf', filename: 'a.pdf', data: pdf },
      { type: 'file', mediaType: 'application/pdf', data: new URL('https://example.com/a.pdf') },
    ])
  })
})

describe('input that a model does not accept is rejected before any request', () => {
  const tiff = { type: 'image' as const, data: Buffer.from('II*\0'), mediaType: 'image/tiff' }
  const table = { type: 'file' as const, data: Buffer.from('PK'), mediaType: 'application/vnd.ms-excel' }
  const openaiAt = (model: string) => (url: string) => openai({ model, apiKey, baseURL: `${url}/v1` })
  const compatible = (url: string) => openaiCompatible({ model: 'qwen', baseURL: `${url}/v1` })

  it.each<[string, (url: string) => ProviderAdapter, AgentInput, string]>([
    [
      'a text model',
      openaiAt('gpt-3.5-turbo'),
      [image],
      "The model 'gpt-3.5-turbo' is not known to accept images. Use another",
    ],
    ['a type of image', openaiAt('gpt-5'), [tiff], 'not image/tiff'],
    ['the address of a file', CASES.chat.create, [fileAddress], 'does not accept the URL of a file'],
    ['a file', compatible, [file], 'It accepts images, or list what it accepts in the option input'],
    ['a type of image of Claude', CASES.anthropic.create, [tiff], 'not image/tiff'],
    ['a type of file of Claude', CASES.anthropic.create, [table], 'not application/vnd.ms-excel'],
    [
      'an address of a text',
      CASES.anthropic.create,
      [{ ...fileAddress, mediaType: 'text/plain' }],
      'only PDF files from a URL',
    ],
  ])('%s', async (_, create, input, reason) => {
    const provider = await start(CASES.chat)
    const running = runAgent(bound, { adapter: create(provider.url), input })
    await expect(running).rejects.toMatchObject({
      code: 'input-unsupported',
      message: expect.stringContaining(reason) as string,
    })
    expect(provider.requests).toEqual([])
  })

  it('an address that the AI SDK would load itself', async () => {
    for (const isLate of [false, true]) {
      const supportedUrls = isLate ? () => Promise.resolve({}) : {}
      const { model, requests } = scriptedModel([{ says: 'A cat.' }], { supportedUrls })
      const adapter = aiSdk({ model })
      const running = runAgent(bound, { adapter, input: [{ type: 'image', url: 'http://169.254.169.254/latest' }] })
      await expect(running).rejects.toMatchObject({ code: 'input-unsupported' })
      expect(requests).toEqual([])
    }
  })

  it('what the option input leaves out', async () => {
    const { model, requests } = scriptedModel([])
    const adapter = aiSdk({ model, input: ['file'] })
    await expect(runAgent(bound, { adapter, input: [image] })).rejects.toMatchObject({ code: 'input-unsupported' })
    expect(requests).toEqual([])
  })
})
