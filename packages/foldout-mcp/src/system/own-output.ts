/** Standard output, for one writer. */
interface OwnOutput {
  readonly stdout: {
    readonly isTTY: boolean
    readonly columns: number
    write(text: string): unknown
  }
  /** Lets everyone else write to standard output again. */
  release(): void
}

/**
 * Keeps standard output for this program. What a configuration or a prompt module prints goes to standard error: it would
 * break the one JSON document of a command, or the messages of a gateway.
 */
export function claimOutput({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'> = process): OwnOutput {
  const { write } = stdout
  const divert = stderr.write.bind(stderr)
  stdout.write = divert
  return {
    stdout: {
      isTTY: stdout.isTTY,
      // The user may resize the terminal.
      get columns() {
        return stdout.columns
      },
      write: (text) => write.call(stdout, text),
    },
    release() {
      if (stdout.write === divert) stdout.write = write
    },
  }
}
