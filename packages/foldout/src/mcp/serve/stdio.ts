import type { Readable, Writable } from 'node:stream'
import { checkNumber } from '../../core/check-number.ts'
import { MAX_MESSAGE_BYTES, STDIO_CONCURRENT } from '../limits.ts'
import type { Output } from '../transports/stdio/outbox.ts'
import { StdioTransport } from '../transports/stdio/transport.ts'
import { connectClient, type McpConnection } from './connection.ts'
import type { ServeMcpOptions } from './contract/options.ts'
import type { ClientViews } from './views/views.ts'

/**
 * Options of `stdio`.
 *
 * @example
 * await served.stdio({ stdin: socket, stdout: socket })
 */
export interface StdioOptions {
  /** The streams of the client. Default: those of this process. */
  readonly stdin?: Readable
  readonly stdout?: Writable
  /**
   * How many requests run at once, including those whose answers the client has not read yet. Further ones wait.
   * Default 64.
   */
  readonly maxConcurrent?: number
}

/** The size of the message around a result. */
const ENVELOPE_BYTES = 1_024

/** Serves the client that started this process. */
export async function serveOverStdio(
  views: ClientViews,
  options: ServeMcpOptions,
  { stdin = process.stdin, stdout, maxConcurrent = STDIO_CONCURRENT }: StdioOptions,
): Promise<McpConnection> {
  const { output, release } = stdout ? { output: toOutput(stdout), release: undefined } : takeStdout()
  const maxMessageBytes = Math.max(options.maxResultBytes ?? 0, MAX_MESSAGE_BYTES) + ENVELOPE_BYTES
  checkNumber('maxConcurrent', maxConcurrent, { code: 'mcp-options', least: 1 })
  const onError = (error: Error): void => options.onError?.(error)
  const transport = new StdioTransport({ stdin, output, maxConcurrent, maxMessageBytes, onError })
  const connection = await connectClient(transport, views, options)
  void connection.closed.then(release)
  return connection
}

function toOutput(stream: Writable, write = stream.write.bind(stream)): Output {
  return {
    write(text, done) {
      const isFirst = stream.writableCorked === 0
      write(text, done)
      if (!isFirst) return
      // The first answer is written immediately. Those that are ready at the same time are written together: a write
      // takes longer than the rest of a small call.
      stream.cork()
      process.nextTick(() => stream.uncork())
    },
    onError(listener) {
      stream.on('error', listener)
      return () => {
        stream.off('error', listener)
        // A write that fails after the end must not end the process.
        if (stream.listenerCount('error') === 0) stream.on('error', doNothing)
      }
    },
  }
}

const doNothing = (): void => undefined

/** Keeps standard output for the protocol: output of tools would break it, so it goes to standard error. */
function takeStdout(): { readonly output: Output; release(): void } {
  const { write } = process.stdout
  const output = toOutput(process.stdout, write.bind(process.stdout))
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return {
    output,
    release() {
      process.stdout.write = write
    },
  }
}
