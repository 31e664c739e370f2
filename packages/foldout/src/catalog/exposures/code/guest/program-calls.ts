import { describeTooManyCalls, type SandboxLimits } from '../contract/limits.ts'
import type { FromWorker } from '../contract/messages.ts'
import { readGuestJson } from './guest-json.ts'

/** The functions of a program, grouped by server. */
export interface FunctionNames {
  readonly all: ReadonlySet<string>
  readonly servers: ReadonlyMap<string, readonly string[]>
  /** The functions without a server. */
  readonly tools: readonly string[]
}

/** The calls of one program that wait for a reply. */
export interface ProgramCalls {
  readonly size: number
  /** Makes a call. Returns the reason if it cannot be made. */
  start(id: unknown, name: unknown, args: unknown): string | undefined
  /** Ends a call. Returns whether it was waiting for a reply. */
  end(id: number): boolean
}

export interface ProgramCallsOptions {
  readonly program: number
  readonly names: FunctionNames
  readonly limits: SandboxLimits
  readonly send: (message: FromWorker) => void
}

export function createProgramCalls({ program, names, limits, send }: ProgramCallsOptions): ProgramCalls {
  const waiting = new Set<number>()
  let made = 0
  return {
    get size() {
      return waiting.size
    },
    start(id, name, args) {
      if (typeof id !== 'number' || typeof name !== 'string' || typeof args !== 'string' || !names.all.has(name)) {
        return 'There is no such function.'
      }
      const read = readGuestJson(args)
      if ('problem' in read) return `The arguments of ${name}() cannot be passed on: ${read.problem}.`
      // The host counts too and must see the first call beyond the limit; more would only flood it.
      if (++made > limits.calls + 1) return describeTooManyCalls(name, limits)
      waiting.add(id)
      send({ type: 'call', program, call: id, name, args: read.value })
      return undefined
    },
    end: (id) => waiting.delete(id),
  }
}

/** Groups the names of functions, one per line, by server. */
export function groupNames(lines: string): FunctionNames {
  const all = new Set(lines === '' ? [] : lines.split('\n'))
  const servers = new Map<string, string[]>()
  const tools: string[] = []
  for (const name of all) {
    const dot = name.indexOf('.')
    if (dot === -1) {
      tools.push(name)
      continue
    }
    const server = name.slice(0, dot)
    const known = servers.get(server)
    if (known) known.push(name.slice(dot + 1))
    else servers.set(server, [name.slice(dot + 1)])
  }
  return { all, servers, tools }
}
