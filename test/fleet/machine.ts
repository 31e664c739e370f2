import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { join } from 'node:path'
import type { DbosQueueLimits } from 'foldout-fleet'

export interface MachineSettings {
  readonly url: string
  readonly machine: string
  /** The file in which tools record what they do. */
  readonly effects: string
  /** The point at which the machine kills itself. */
  readonly killAt?: number
  readonly version?: string
  readonly answer?: string
  readonly turns?: number
  readonly pauseMs?: number
  readonly silenceMs?: number
  readonly scanMs?: number
  /** Limits of the queue. */
  readonly limits?: DbosQueueLimits
  /** Whether the tool `slow` takes an hour. */
  readonly isSlow?: boolean
}

/** A machine of the fleet, in its own process. */
export interface TestMachine {
  readonly process: ChildProcessWithoutNullStreams
  /** Its output so far. */
  readonly lines: readonly string[]
  readonly ended: Promise<NodeJS.Signals | null>
  /** What it wrote to standard error so far. */
  readonly complaint: string
  order(command: string, args?: object): void
  /** Waits for a line with this beginning, and returns the rest of it. */
  hear(beginning: string): Promise<string>
  kill(signal: NodeJS.Signals): void
}

const program = join(import.meta.dirname, 'worker.mjs')

export function startMachine(settings: MachineSettings, flags: readonly string[] = []): TestMachine {
  const child = spawn(process.execPath, [...flags, program, JSON.stringify(settings)])
  const lines: string[] = []
  const waiting = new Set<() => void>()
  let rest = ''
  let complaint = ''
  child.stdin.on('error', () => undefined)
  child.stderr.on('data', (data) => (complaint += String(data)))
  child.stdout.on('data', (data) => {
    const parts = `${rest}${String(data)}`.split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
    for (const check of waiting) check()
  })
  const ended = new Promise<NodeJS.Signals | null>((resolve) => {
    child.once('close', (_code, signal) => {
      resolve(signal)
      for (const check of waiting) check()
    })
  })
  return {
    process: child,
    lines,
    ended,
    get complaint() {
      return complaint
    },
    order: (command, args = {}) => void child.stdin.write(`${JSON.stringify({ command, ...args })}\n`),
    hear: (beginning) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = lines.find((line) => line.startsWith(beginning))
          if (found === undefined && child.exitCode === null && child.signalCode === null) return
          waiting.delete(check)
          if (found !== undefined) resolve(found.slice(beginning.length).trim())
          else
            reject(
              new Error(`${settings.machine} ended before it said '${beginning}': ${complaint} ${lines.join('\n')}`),
            )
        }
        waiting.add(check)
        check()
      }),
    kill: (signal) => void child.kill(signal),
  }
}
