// The provider for the examples: the real one if its key is set, otherwise a local one that follows a script.
import { LLMock } from '@copilotkit/aimock'

/** The script of the model: it reads the policy, refunds the order, and answers. */
const script = [
  { toolCalls: [{ name: 'read_section', arguments: { section_key: 'refunds' } }] },
  { toolCalls: [{ name: 'refund_order', arguments: { order: 'A-17' } }] },
  { content: 'Order A-17 is refunded; the money is back within five days.' },
]

export interface ExampleProvider {
  /** Whether this is the real provider, whose answers are not predictable. */
  readonly isReal: boolean
  readonly apiKey: string
  /** The URL of the local provider. */
  readonly url: string | undefined
  stop(): Promise<void>
}

export async function exampleProvider(keyName: string): Promise<ExampleProvider> {
  const apiKey = process.env[keyName]
  if (apiKey) return { isReal: true, apiKey, url: undefined, stop: async () => undefined }
  const mock = new LLMock({ port: 0 })
  let requests = 0
  mock.on({}, () => {
    const step = script[requests++] ?? script.at(-1)!
    return 'content' in step
      ? { content: step.content }
      : { toolCalls: step.toolCalls.map(({ name, arguments: args }) => ({ name, arguments: JSON.stringify(args) })) }
  })
  const url = await mock.start()
  console.log(`(${keyName} is not set: a provider on this machine answers from a script.)`)
  return { isReal: false, apiKey: 'none', url: typeof url === 'string' ? url : mock.url, stop: () => mock.stop() }
}
