export interface ParallelOptions<Item> {
  /** How many run at the same time. */
  readonly limit: number
  /** Whether an item must not run beside others. */
  readonly isAlone: (item: Item) => boolean
}

/** Runs work on each item, several at a time. Results are in the order of the items; the first failure is thrown at the end. */
export async function runParallel<Item, Result>(
  items: readonly Item[],
  options: ParallelOptions<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Promise<Result>[] = []
  const running = new Set<Promise<unknown>>()
  const start = (item: Item): void => {
    const result = work(item)
    results.push(result)
    const ended: Promise<unknown> = result.then(
      () => running.delete(ended),
      () => running.delete(ended),
    )
    running.add(ended)
  }
  for (const item of items) {
    const isAlone = options.isAlone(item)
    // One that must be alone waits for all before it, and all behind it wait for it.
    if (isAlone) await Promise.all(running)
    else if (running.size >= Math.max(1, options.limit)) await Promise.race(running)
    start(item)
    if (isAlone) await Promise.all(running)
  }
  await Promise.all(running)
  return Promise.all(results)
}
