/** Events pushed by one side and read by the other with `for await`, each once. */
export interface EventQueue<T> {
  readonly push: (event: T) => void
  readonly end: () => void
  readonly fail: (error: unknown) => void
  iterator(): AsyncIterator<T>
}

export function eventQueue<T>(): EventQueue<T> {
  const events: T[] = []
  let state:
    | { readonly type: 'open' }
    | { readonly type: 'ended' }
    | { readonly type: 'failed'; readonly error: unknown } = { type: 'open' }
  let wake: (() => void) | undefined
  const notify = (): void => {
    wake?.()
    wake = undefined
  }
  return {
    push(event) {
      events.push(event)
      notify()
    },
    end() {
      state = { type: 'ended' }
      notify()
    },
    fail(error) {
      state = { type: 'failed', error }
      notify()
    },
    iterator: () => ({
      async next() {
        for (;;) {
          const event = events.shift()
          if (event !== undefined) return { done: false, value: event }
          if (state.type === 'failed') throw state.error
          if (state.type === 'ended') return { done: true, value: undefined }
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      },
    }),
  }
}
