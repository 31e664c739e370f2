import { signal } from '@preact/signals'
import type {
  ActionFailure,
  ActionName,
  ActionRequest,
  ActionResponse,
  Hello,
  ServerEvent,
  Topic,
} from '../../../src/inspector/protocol/protocol.ts'

/** A run that was exported carries its answers with it. */
interface Recorded {
  readonly hello: Hello
  /** By the name of the action and the JSON of the request. */
  readonly answers: Readonly<Record<string, unknown>>
}

const recorded = readRecorded()
/** Whether this page is a file without a server. */
export const isRecorded = recorded !== undefined

function readRecorded(): Recorded | undefined {
  const text = document.querySelector('#recorded')?.textContent
  if (text) return JSON.parse(text) as Recorded
  return undefined
}

/** What the server said first; undefined until it has said something. */
export const hello = signal<Hello | undefined>(undefined)
/** `lost`: the server is gone, or the stream broke. The browser tries again by itself. */
export const status = signal<'connecting' | 'open' | 'lost'>('connecting')
/** How often each topic has changed. */
export const changes = signal<Readonly<Record<Topic, number>>>({
  prompt: 0,
  runs: 0,
  catalog: 0,
  advice: 0,
  compare: 0,
  approvals: 0,
})

/** Follows the server. */
export function connect(): void {
  if (recorded) {
    hello.value = recorded.hello
    document.title = `${recorded.hello.title} · Foldout`
    return
  }
  follow(false)
  addEventListener('visibilitychange', () => {
    stop()
    // A browser has few connections to one host, and pages that nobody sees must not take them from those that are seen.
    if (document.visibilityState === 'visible') follow(true)
  })
}

let stop = (): void => undefined

function follow(hasMissed: boolean): void {
  const events = new EventSource('api/events')
  let wasLost = hasMissed
  let timer: ReturnType<typeof setTimeout> | undefined
  stop = () => {
    clearTimeout(timer)
    events.close()
  }
  events.addEventListener('open', () => {
    status.value = 'open'
    // Changes in the meantime were missed.
    if (wasLost) for (const topic of Object.keys(changes.value)) bump(topic as Topic)
  })
  events.addEventListener('error', () => {
    wasLost = true
    status.value = 'lost'
    // A browser gives up on an answer that is not a stream, such as that of another program at the same port.
    if (events.readyState === EventSource.CLOSED) timer = setTimeout(() => follow(true), 3_000)
  })
  events.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const event = readEvent(data)
    if (event?.type === 'hello') {
      hello.value = event
      document.title = `${event.title} · Foldout inspector`
    }
    if (event?.type === 'changed') bump(event.topic)
  })
}

/** A line that was cut off is left out: the page asks for the state whenever it connects. */
function readEvent(data: string): ServerEvent | undefined {
  try {
    return JSON.parse(data) as ServerEvent
  } catch {
    return undefined
  }
}

function bump(topic: Topic): void {
  changes.value = { ...changes.value, [topic]: changes.value[topic] + 1 }
}

/** Sends the server a request. Throws the server's error if it fails. */
export async function call<Name extends ActionName>(
  name: Name,
  request: ActionRequest<Name>,
  abort?: AbortSignal,
): Promise<ActionResponse<Name>> {
  if (recorded) {
    const answer = recorded.answers[`${name} ${JSON.stringify(request)}`]
    if (answer === undefined) throw new Error('This is not part of the exported run.')
    return answer as ActionResponse<Name>
  }
  let response: Response
  try {
    response = await fetch(`api/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
      ...(abort && { signal: abort }),
    })
  } catch (error) {
    if (abort?.aborted) throw error
    throw new Error('The inspector does not answer. Is foldout still running?', { cause: error })
  }
  const answer = (await response.json().catch(() => ({ error: response.statusText }))) as unknown
  if (!response.ok) throw new Error((answer as ActionFailure).error)
  return answer as ActionResponse<Name>
}
