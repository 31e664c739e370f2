import { ignore } from 'foldout/promises'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Writable } from 'node:stream'
import type { McpReceiver, McpTransport } from 'foldout/mcp'
import { getInheritedVariables, joinEnvironments } from '../../../system/environment.ts'
import { startProgram } from '../../../system/programs.ts'
import { killTree } from '../../../system/tree.ts'
import type { FilledStdioServer } from '../../config/fill-server.ts'
import { dropUndefined, type JsonObject } from 'foldout-shared/values'
import { CLOSE_INPUT_MS, CLOSE_TIMEOUT_MS, LAST_OUTPUT_MS, MAX_UNREAD_ANSWERS } from './limits.ts'
import { MessageLines, NEWLINE } from './message-lines.ts'
import { killMarked, killRemaining, listTree, type RunningProcess } from './processes.ts'
import type { ProcessGuard } from './process-guard.ts'

export interface ChildTransportOptions {
  readonly guard: ProcessGuard
  readonly onStderr: (text: string) => void
}

const NEWLINE_TEXT = '\n'
/** The size of a chunk from a pipe if more follows. */
const FULL_CHUNK_BYTES = 32_768
/** How much of each end of a text is heard. */
const HEARD_BYTES = 65_536
/** How long reading pauses when a server floods standard error. */
const FLOOD_PAUSE_MS = 1
/** Windows has no process groups and no signals. */
const HAS_GROUPS = process.platform !== 'win32'

/** Why a process that cannot be ended is ignored. */
const LEFT = 'the guard ends it together with the gateway'

/**
 * A server as a child process. It reads messages of any sensible size in linear time, starts the server in a process group so that
 * all of it can be ended, and ends it even if this process is killed.
 */
export class ChildTransport implements McpTransport {
  readonly #server: FilledStdioServer
  readonly #options: ChildTransportOptions
  #receiver: McpReceiver | undefined
  #child: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()
  readonly #lines = new MessageLines({
    onMessage: (message) => this.#receiver?.receive(message),
    onText: (text) => this.#hearGarbage(text),
    onFlood: (reason) => this.#refuse(reason),
  })
  /** Resolves when the server has read what was sent to it. */
  #drained: Promise<void> | undefined
  /** The answers to its questions that it has not read. */
  #unreadAnswers = 0
  #ending: string | undefined
  #isClosed = false
  readonly #marker: Readonly<Record<string, string>>

  constructor(server: FilledStdioServer, options: ChildTransportOptions) {
    this.#server = server
    this.#options = options
    this.#marker = options.guard.createMarker()
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** How the process has ended; `undefined` as long as it runs. */
  getEnding(): string | undefined {
    return this.#ending
  }

  /** Whether the server recently wrote non-MCP output. */
  hasGarbage(): boolean {
    return this.#lines.hasGarbage
  }

  async start(receiver: McpReceiver): Promise<void> {
    this.#receiver = receiver
    const { command, args, env, cwd } = this.#server
    // Otherwise the error would say that the command is missing.
    if (cwd !== undefined && !existsSync(cwd)) throw new Error(`Its folder ${cwd} does not exist.`)
    this.#options.guard.start()
    const child = startProgram(command, args, {
      env: joinEnvironments([getInheritedVariables(), env, this.#marker]),
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      detached: HAS_GROUPS,
      ...dropUndefined({ cwd }),
    })
    this.#child = child
    const { stdin, stdout, stderr, pid } = child
    // Registered immediately, because this process may be killed at any moment.
    if (pid !== undefined) this.#options.guard.add(pid)
    // Both are noticed when they close.
    stdin?.on('error', () => undefined)
    stdout?.on('error', () => undefined)
    stdout?.on('data', (chunk: Buffer) => this.#lines.read(chunk))
    // The input closes when the process exits. A process that it has started may keep the output open for hours.
    stdin?.once('close', () => this.#closeSoon())
    stdout?.once('close', () => this.#closeSoon())
    stderr?.on('data', (chunk: Buffer) => {
      this.#hear(chunk)
      if (chunk.length < FULL_CHUNK_BYTES) return
      // A flood must not take time from other servers.
      stderr.pause()
      setTimeout(() => stderr.resume(), FLOOD_PAUSE_MS)
    })
    stderr?.on('error', () => undefined)
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        // The way in which this side has ended it says nothing.
        if (!this.#isClosed)
          this.#ending ??= code === null ? `It was ended by ${signal}.` : `It ended with exit code ${code}.`
        resolve()
      })
      child.once('error', () => resolve())
    })
    child.once('close', () => {
      // It ended by itself, and may have left daemons.
      if (!this.#isClosed) void ignore(killMarked(this.#marker), LEFT)
      this.#end()
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
  }

  async send(message: JsonObject): Promise<void> {
    const stdin = this.#child?.stdin
    if (this.#isClosed || !stdin?.writable) throw new Error('Not connected')
    const isFirst = stdin.writableCorked === 0
    const isWritten = stdin.write(JSON.stringify(message) + NEWLINE_TEXT)
    // The first message is written immediately, and the server works while the caller goes on. Those that are sent at
    // the same time are written together: a write takes longer than everything else in a small call.
    if (isFirst) {
      stdin.cork()
      process.nextTick(() => stdin.uncork())
    }
    if (isWritten) return
    // Requests to the server are limited elsewhere.
    if (!('method' in message) && ++this.#unreadAnswers > MAX_UNREAD_ANSWERS)
      this.#refuse('The server floods the gateway with questions and does not read the answers.')
    this.#drained ??= this.#untilDrained(stdin)
    await this.#drained
  }

  /** Waits until the server has read what was sent to it, or has ended. All messages wait together: there may be thousands. */
  #untilDrained(stdin: Writable): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        stdin.off('drain', finish)
        stdin.off('close', finish)
        this.#drained = undefined
        this.#unreadAnswers = 0
        resolve()
      }
      stdin.once('drain', finish)
      stdin.once('close', finish)
    })
  }

  /** Ends the server as the protocol requires: closes its input, then sends SIGTERM, then SIGKILL. */
  async close(): Promise<void> {
    const child = this.#child
    if (!child || this.#isClosed) return
    this.#isClosed = true
    // Listed before the end: once a parent has ended, its children cannot be identified.
    const tree = child.pid === undefined ? [] : await listTree(child.pid).catch(() => [])
    child.stdin?.end()
    const hasExited = await this.#hasExited(CLOSE_INPUT_MS)
    if (!HAS_GROUPS) await killTree(child)
    else await this.#killGroup(hasExited, tree)
    child.stdout?.destroy()
    child.stderr?.destroy()
    this.#end()
  }

  async #killGroup(hasExited: boolean, tree: readonly RunningProcess[]): Promise<void> {
    if (!hasExited) {
      this.#kill('SIGTERM')
      await this.#hasExited(CLOSE_TIMEOUT_MS - CLOSE_INPUT_MS)
    }
    // Processes that the server started may still run after it has ended.
    this.#kill('SIGKILL')
    await ignore(killRemaining(tree), LEFT)
    await ignore(killMarked(this.#marker), LEFT)
  }

  /** A server without input or output is of no use. It may still send answers that it has, and end by itself. */
  #closeSoon(): void {
    if (this.#isClosed) return
    setTimeout(() => {
      if (this.#isClosed) return
      this.#ending ??= 'It closed its standard input or output.'
      void this.close()
    }, LAST_OUTPUT_MS).unref()
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
      process.kill(-pid, signal)
    } catch {
      // No process is left.
    }
  }

  #end(): void {
    const child = this.#child
    if (!child) return
    this.#isClosed = true
    this.#child = undefined
    if (child.pid !== undefined) this.#options.guard.drop(child.pid)
    this.#receiver?.close()
  }

  #hearGarbage(text: Buffer): void {
    if (this.#isClosed) return
    this.#hear(text)
    if (text.at(-1) !== NEWLINE) this.#options.onStderr(NEWLINE_TEXT)
  }

  /** Passes on what the server says to people. The middle of a very long text is left out. */
  #hear(text: Buffer): void {
    const parts = text.length <= 2 * HEARD_BYTES ? [text] : [text.subarray(0, HEARD_BYTES), text.subarray(-HEARD_BYTES)]
    for (const part of parts) this.#options.onStderr(part.toString('utf8'))
  }

  #refuse(reason: string): void {
    this.#lines.clear()
    this.#child?.stdout?.destroy()
    if (this.#isClosed) return
    this.#ending = reason
    void this.close()
  }
}
