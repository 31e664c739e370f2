import { Writable, type Readable } from 'node:stream'
import { connectClient, type McpConnection } from './connection.ts'
import type { ServeMcpOptions } from './options.ts'
import { loadStdioSdk } from './sdk.ts'
import type { ClientViews } from './views.ts'

export interface StdioOptions {
  /** Default: those of this process. */
  readonly stdin?: Readable
  readonly stdout?: Writable
}

/** Serves the client that started this process. */
export async function serveOverStdio(
  views: ClientViews,
  options: ServeMcpOptions,
  { stdin = process.stdin, stdout }: StdioOptions,
): Promise<McpConnection> {
  const { StdioServerTransport } = await loadStdioSdk()
  const own = stdout ? undefined : takeStdout()
  const transport = new StdioServerTransport(stdin, stdout ?? own!.stdout)
  const connection = await connectClient(transport, views, options)
  void connection.closed.then(() => own?.release())
  return connection
}

/** Keeps standard output for the protocol: what a tool prints there would break it, and goes to standard error. */
function takeStdout(): { readonly stdout: Writable; release(): void } {
  const { write } = process.stdout
  const ignore = (): void => undefined
  // A client that has gone is found out by the write below; without a listener the process would end here.
  process.stdout.on('error', ignore)
  process.stdout.write = process.stderr.write.bind(process.stderr)
  return {
    stdout: new Writable({
      decodeStrings: false,
      write: (chunk: string, encoding, done) =>
        void write.call(process.stdout, chunk, encoding, (error) => done(error)),
    }),
    release() {
      process.stdout.write = write
      process.stdout.off('error', ignore)
    },
  }
}
