import { cutStream } from '../failure.ts'

/** The events of a stream. Half an event is what is left of a connection that closed in order, but too early. */
export async function* wholeEvents<Event>(stream: AsyncIterable<Event>): AsyncGenerator<Event> {
  try {
    yield* stream
  } catch (error) {
    throw error instanceof SyntaxError
      ? cutStream('The reply broke off within an event, or is no valid JSON.', { cause: error })
      : error
  }
}

/** The error of a failure that was told within a stream, in the shape of the client's own. */
export function failureInStream(code: string | null | undefined, message: string): Error {
  return Object.assign(new Error(message), { status: undefined, code })
}
