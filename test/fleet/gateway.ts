import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const PROGRAM = join(import.meta.dirname, '../../packages/foldout-mcp/bin/foldout.js')

/** A gateway in its own process. */
export interface TestGateway {
  readonly url: string
  /** What it has written to standard error. */
  getLog(): string
  kill(signal: NodeJS.Signals): void
  readonly ended: Promise<void>
}

export interface GatewaySettings {
  readonly config: string
  /** Its own folder, as on another machine. */
  readonly home: string
  readonly env?: Readonly<Record<string, string>>
}

function start({ home, env = {} }: GatewaySettings, args: readonly string[]): ChildProcess {
  const own = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    XDG_DATA_HOME: join(home, 'data'),
    FOLDOUT_KEYCHAIN: 'off',
  }
  return spawn(process.execPath, [PROGRAM, ...args], { env: { ...own, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Starts `foldout serve` and waits until it listens. */
export async function startGateway(settings: GatewaySettings): Promise<TestGateway> {
  const child = start(settings, ['serve', '--http', '0', '--config', settings.config, '--no-encoder'])
  let log = ''
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', (data) => {
      log += String(data)
      const [, found] = /Serving .*?at (http\S+)/.exec(log) ?? []
      if (found !== undefined) resolve(found)
    })
    void ended.then(() => reject(new Error(`The gateway ended: ${log}`)))
  })
  return { url, ended, getLog: () => log, kill: (signal) => void child.kill(signal) }
}

/** Runs a command, and returns what it printed. */
export async function runFoldout(settings: GatewaySettings, args: readonly string[]): Promise<string> {
  const child = start(settings, args)
  let [output, complaint] = ['', '']
  child.stdout?.on('data', (data) => (output += String(data)))
  child.stderr?.on('data', (data) => (complaint += String(data)))
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`foldout ${args.join(' ')} ended with ${String(code)}: ${complaint}`)
  return output
}

/** One URL for several gateways: each request goes to the next one, whichever client sent it. */
export async function startBalancer(urls: readonly string[]): Promise<{ readonly url: string; close(): void }> {
  let turn = 0
  const server: Server = createServer((incoming, outgoing) => {
    const target = new URL(urls[turn++ % urls.length] ?? '')
    const { method, headers, url } = incoming
    const forward = request(
      { host: target.hostname, port: target.port, path: url, method, headers: { ...headers, host: target.host } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    forward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forward.destroy())
    incoming.pipe(forward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Connects a client of 2026-07-28, whose requests are independent. */
export async function connect(url: string, capabilities: object = {}, token = 'token-of-ada'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' }, capabilities })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return client
}

export function getText(result: { readonly content?: unknown }): string {
  const content = Array.isArray(result.content) ? (result.content as readonly { readonly text?: unknown }[]) : []
  return content.map(({ text }) => String(text)).join('\n')
}
