import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import spawn from 'cross-spawn'
import type { FilledStdioServer } from '../config/fill-server.ts'
import { dropUndefined } from '../fields.ts'
import { CLOSE_TIMEOUT_MS, MAX_MESSAGE_BYTES } from './limits.ts'
import { killRemaining, listTree } from './processes.ts'
import type { ProcessGuard } from './process-guard.ts'

export interface ChildTransportOptions {
  readonly guard: ProcessGuard
  readonly onStderr: (text: string) => void
}

const NEWLINE = 10
const NEWLINE_TEXT = '\n'
/** Windows has no groups; there, ending the process that was started has to do. */
const HAS_GROUPS = process.platform !== 'win32'

/**
 * A server as a child process. Beside the SDK's transport it takes messages of any sensible size in linear time, starts the
 * server in a process group so that all of it can be ended, and ends it even if this process is killed.
 */
export class ChildTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #server: FilledStdioServer
  readonly #options: ChildTransportOptions
  #child: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()
  #chunks: Buffer[] = []
  #bytes = 0
  #isClosed = false

  constructor(server: FilledStdioServer, options: ChildTransportOptions) {
    this.#server = server
    this.#options = options
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  async start(): Promise<void> {
    const { command, args, env, cwd } = this.#server
    // Otherwise the error would say that the command is missing.
    if (cwd !== undefined && !existsSync(cwd)) throw new Error(`Its folder ${cwd} does not exist.`)
    const child = spawn(command, [...args], {
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      detached: HAS_GROUPS,
      ...dropUndefined({ cwd }),
    })
    this.#child = child
    const { stdin, stdout, stderr, pid } = child
    stdin?.on('error', (error) => this.onerror?.(error))
    stdout?.on('error', (error) => this.onerror?.(error))
    stdout?.on('data', (chunk: Buffer) => this.#read(chunk))
    stderr?.on('data', (chunk: Buffer) => this.#options.onStderr(chunk.toString('utf8')))
    stderr?.on('error', () => undefined)
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => resolve())
      child.once('error', () => resolve())
    })
    child.once('close', () => this.#end())
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    if (pid !== undefined) this.#options.guard.add(pid)
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (this.#isClosed || !stdin?.writable) throw new Error('Not connected')
    if (stdin.write(JSON.stringify(message) + NEWLINE_TEXT)) return
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        stdin.off('drain', finish)
        stdin.off('close', finish)
        resolve()
      }
      stdin.once('drain', finish)
      stdin.once('close', finish)
    })
  }

  /** Ends the server as the protocol says: its input first, then SIGTERM, then SIGKILL. */
  async close(): Promise<void> {
    const child = this.#child
    if (!child || this.#isClosed) return
    this.#isClosed = true
    // Listed before the end: once a parent has ended, its children cannot be identified.
    const tree = child.pid === undefined ? [] : await listTree(child.pid).catch(() => [])
    child.stdin?.end()
    if (!(await this.#hasExited(CLOSE_TIMEOUT_MS / 2))) {
      this.#kill('SIGTERM')
      await this.#hasExited(CLOSE_TIMEOUT_MS / 2)
    }
    // What the server itself has started may still run when it has ended.
    this.#kill('SIGKILL')
    await killRemaining(tree).catch(() => undefined)
    child.stdout?.destroy()
    child.stderr?.destroy()
    this.#end()
  }

  #hasExited(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), withinMs)
      void this.#exited.finally(() => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }

  #kill(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      process.kill(HAS_GROUPS ? -pid : pid, signal)
    } catch {
      // Nothing of it runs any more.
    }
  }

  #end(): void {
    const child = this.#child
    if (!child) return
    this.#isClosed = true
    this.#child = undefined
    if (child.pid !== undefined) this.#options.guard.drop(child.pid)
    this.onclose?.()
  }

  #read(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#chunks.push(chunk.subarray(start, end))
      start = end + 1
      this.#take()
    }
    if (start === chunk.length) return
    this.#chunks.push(chunk.subarray(start))
    this.#bytes += chunk.length - start
    if (this.#bytes <= MAX_MESSAGE_BYTES) return
    this.onerror?.(new Error(`The server sent a message of more than ${MAX_MESSAGE_BYTES} bytes.`))
    this.#chunks = []
    this.#bytes = 0
    void this.close()
  }

  #take(): void {
    const [only] = this.#chunks
    const line = this.#chunks.length === 1 && only ? only : Buffer.concat(this.#chunks)
    this.#chunks = []
    this.#bytes = 0
    const message = readMessage(line)
    if (message) this.onmessage?.(message)
    // Some servers print notes for people there.
    else if (line.length > 0) this.#options.onStderr(`${line.subarray(0, 1_000).toString('utf8')}\n`)
  }
}

/** The message in a line, if there is one. */
function readMessage(line: Buffer): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    const isMessage = typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0'
    return isMessage ? (value as JSONRPCMessage) : undefined
  } catch {
    return undefined
  }
}
