import type { ServedClient } from 'foldout/mcp'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Callers } from './callers.ts'
import { ANSWER_MS, CLIENT_WAIT_MS, MAX_OUTSIDE } from './limits.ts'
import { OutsideQuestions, type ConnectedClient, type OutsideQuestion } from './outside.ts'

const ACCEPTED = { action: 'accept' }
const FORM: OutsideQuestion = { method: 'elicitation/create', params: { message: 'Which?' } }
const getMessage = (error: Error): string => error.message
const never = (): Promise<never> => new Promise(() => {})

function createClient(
  id: string,
  { ask, isOpen = true, ...more }: Partial<ServedClient & ConnectedClient['channel']> = {},
): ConnectedClient {
  const capabilities = { elicitation: {} }
  const client = { id, era: 'legacy', name: id, version: '1', principal: undefined, capabilities, ...more } as const
  return { client, channel: { isOpen, ask: ask ?? (async () => ({ ...ACCEPTED, by: id })) } }
}

interface Opened {
  readonly callers: Callers
  readonly outside: OutsideQuestions
  ask(question?: OutsideQuestion, signal?: AbortSignal): Promise<unknown>
}

function open(clients: ConnectedClient[]): Opened {
  const callers = new Callers()
  const outside = new OutsideQuestions({ callers, listClients: () => clients, onEnd: () => undefined })
  return {
    callers,
    outside,
    ask: (question = FORM, signal = new AbortController().signal) => outside.ask(question, signal),
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

describe('R53 a question outside of calls', () => {
  it('goes to the only client', async () => {
    expect(await open([createClient('one')]).ask()).toEqual({ ...ACCEPTED, by: 'one' })
  })

  it('goes to nobody if several clients could answer it and none has used the process', async () => {
    const clients = [createClient('one'), createClient('two')]
    await expect(open(clients).ask()).rejects.toThrow('Several clients are connected')
  })

  it('passes over clients that cannot answer it', async () => {
    const deaf = createClient('deaf', { isOpen: false })
    const unable = createClient('unable', { capabilities: {} })
    expect(await open([deaf, unable, createClient('one')]).ask()).toEqual({ ...ACCEPTED, by: 'one' })
    await expect(open([unable]).ask()).rejects.toMatchObject({
      code: -32_601,
      message: 'The client does not support elicitation.',
    })
  })

  it('is refused if a modern client may be meant', async () => {
    const modern = createClient('modern', { era: 'modern', isOpen: false })
    await expect(open([modern]).ask()).rejects.toThrow('only while one of its calls is running')
    await expect(open([modern, createClient('one')]).ask()).rejects.toThrow('Several clients')
    const stateless = { id: 'stateless', isShared: true, name: undefined, version: undefined, principal: undefined }
    for (const clients of [[], [createClient('one')]]) {
      const { callers, ask } = open(clients)
      callers.audience.meet(stateless)
      await expect(ask()).rejects.toThrow('only while one of its calls is running')
    }
  })

  it('goes to the client that has used the process, with others connected', async () => {
    const [one, two] = [createClient('one'), createClient('two')]
    const { callers, ask } = open([one, two])
    callers.audience.meet(two.client)
    expect(await ask()).toEqual({ ...ACCEPTED, by: 'two' })
  })

  it('goes to the owner of the task that it belongs to, and to nobody else', async () => {
    const { ask } = open([createClient('one'), createClient('two')])
    expect(await ask({ ...FORM, owner: 'client two' })).toEqual({ ...ACCEPTED, by: 'two' })
    const asked = open([createClient('one')]).ask({ ...FORM, owner: 'client two' })
    const refused = asked.catch(getMessage)
    await vi.advanceTimersByTimeAsync(CLIENT_WAIT_MS + 1_000)
    expect(await refused).toBe('No connected client can receive requests outside a call.')
  })

  it('makes the process the one of the client that was asked', async () => {
    const clients = [createClient('one')]
    const { callers, ask } = open(clients)
    await ask()
    clients.push(createClient('two'))
    expect(await ask()).toEqual({ ...ACCEPTED, by: 'one' })
    expect(callers.audience.isShared).toBe(false)
  })
})

describe('R54 a question outside of calls', () => {
  it('waits a limited time for its client', async () => {
    const clients: ConnectedClient[] = []
    const { ask } = open(clients)
    const asked = ask()
    await vi.advanceTimersByTimeAsync(CLIENT_WAIT_MS - 1_000)
    clients.push(createClient('one'))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await asked).toEqual({ ...ACCEPTED, by: 'one' })
    clients.pop()
    const refused = ask().catch(getMessage)
    await vi.advanceTimersByTimeAsync(CLIENT_WAIT_MS + 1_000)
    expect(await refused).toBe('No connected client can receive requests outside a call.')
  })

  it('ends if nobody answers it in time', async () => {
    let given: AbortSignal | undefined
    const silent = createClient('one', {
      ask: (_method, _params, signal) => {
        given = signal
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('Aborted.'))))
      },
    })
    const { outside, ask } = open([silent])
    const refused = ask().catch(getMessage)
    await vi.advanceTimersByTimeAsync(ANSWER_MS)
    expect(await refused).toBe('The client did not answer within 10 minutes.')
    expect(given?.aborted).toBe(true)
    expect(outside.isWaiting).toBe(false)
  })

  it('is refused if too many wait', async () => {
    const heard = vi.fn(never)
    const { ask } = open([createClient('one', { ask: heard })])
    const stop = new AbortController()
    for (let asked = 0; asked < MAX_OUTSIDE; asked++) void ask(FORM, stop.signal).catch(() => undefined)
    await expect(ask()).rejects.toThrow('16 questions outside of calls wait for an answer.')
    expect(heard).toHaveBeenCalledTimes(MAX_OUTSIDE)
  })

  it('ends when its server withdraws it, also while it waits for a client', async () => {
    const { outside, ask } = open([])
    const stop = new AbortController()
    const refused = ask(FORM, stop.signal).catch(getMessage)
    stop.abort()
    expect(await refused).toContain('aborted')
    expect(outside.isWaiting).toBe(false)
  })
})
