/** Reports failures of a folder or a database once for each reason, because every server meets the same ones. */
export class StorageFailures {
  readonly #onProblem: (message: string) => void
  readonly #known = new Set<string>()

  constructor(onProblem: (message: string) => void) {
    this.#onProblem = onProblem
  }

  report(what: string, error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code ?? message
    if (this.#known.has(reason)) return
    this.#known.add(reason)
    this.#onProblem(`${what}: ${message}`)
  }

  /** The storage works again. */
  clear(): void {
    this.#known.clear()
  }
}
