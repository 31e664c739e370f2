/** Lets calls run side by side, but an exclusive one only when no other runs. */
export function createTurnstile(): <T>(call: { readonly exclusive: boolean }, work: () => Promise<T>) => Promise<T> {
  let exclusive: Promise<unknown> = Promise.resolve()
  let shared = new Set<Promise<unknown>>()
  return ({ exclusive: isExclusive }, work) => {
    if (isExclusive) {
      const running = Promise.allSettled([exclusive, ...shared]).then(work)
      shared = new Set()
      exclusive = running.catch(() => {})
      return running
    }
    const running = exclusive.then(work)
    const among = shared.add(running)
    const leave = (): boolean => among.delete(running)
    running.then(leave, leave)
    return running
  }
}
