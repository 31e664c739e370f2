import { readFile } from 'node:fs/promises'
import type * as quickjs from 'quickjs-wasi'
import type { JSValueHandle, QuickJS } from 'quickjs-wasi'
import { importPeer } from '../../../../core/peer.ts'
import type { SandboxLimits } from '../contract/limits.ts'
import type { Engine, ProgramError } from '../contract/messages.ts'
import { MOST_ARGUMENT_CHARACTERS, PRELUDE } from './prelude.ts'

/** The host side of a machine. It must not trust the values it receives, and must not throw. */
export interface MachineHost {
  /** Handles an action of the program. Returns the reason if it is not allowed. */
  post(values: readonly (string | number | undefined)[]): string | undefined
  /** Whether there is a function of this name. */
  has(name: string): boolean
  /** Lists the names of a server's functions. */
  list(server: string): readonly string[]
  /** Called repeatedly while a program computes. */
  shouldStop(): boolean
}

/** A JavaScript engine that has only the language, a console, timers and the functions of the program. */
export interface Machine {
  start(host: MachineHost, servers: readonly string[], tools: readonly string[]): void
  /** Starts a program. Returns an error if its syntax is wrong. */
  evaluate(code: string): ProgramError | undefined
  /** Finds the innermost location inside the program in a stack trace, counted from 1. */
  placeIn(stack: string): Place | undefined
  /** Settles a call with its result as JSON, or with an error message. */
  settle(call: number, isOk: boolean, text: string): void
  fire(timer: number): void
  /** Whether it uses more than this share of its memory. Default: nearly all of it. */
  isOutOfMemory(share?: number): boolean
}

export interface Place {
  readonly line: number
  readonly column: number
}

export interface Machines {
  readonly engine: Engine
  /** Creates a machine that has never run a program. */
  create(): Promise<Machine>
}

/** The name of a program in stack traces. */
const FILE = 'program.ts'
const PLACE = /program\.ts:(\d+):(\d+)/
/**
 * Wraps a program that has a `return` at its top level. It goes on the program's first line, so line numbers stay the
 * same.
 */
const FUNCTION_HEAD = '(async () => {'
/** Enough for any reasonable recursion, and far less than the thread's own stack. */
const STACK_BYTES = 256 * 1024
const ENTRIES = ['start', 'finish', 'settle', 'fire'] as const
const CALLBACKS = ['post', 'has', 'list', 'random'] as const

type Entry = (typeof ENTRIES)[number]
type Callback = (typeof CALLBACKS)[number]
type Entries = Readonly<Record<Entry, JSValueHandle>>

export async function loadMachines(limits: SandboxLimits, compiled: Engine | undefined): Promise<Machines> {
  const library = await importPeer('quickjs-wasi', () => import('quickjs-wasi'))
  const { QuickJS } = library
  const engine = compiled ?? (await compileEngine())
  const options = {
    wasm: engine,
    memoryLimit: getMemoryLimit(limits),
    maxStackSize: STACK_BYTES,
    // When the engine fails, it would write to the output of the process.
    wasi: () => ({ fd_write: () => 0 }),
  }

  const { snapshot, tokens } = await (async () => {
    const vm = await QuickJS.create(options)
    const prelude = vm.evalCode(PRELUDE, 'prelude')
    const callbacks = CALLBACKS.map((name) => vm.newFunction(name, () => vm.undefined))
    const entries = vm.callFunction(prelude, vm.global, ...callbacks)
    // The objects behind these handles are part of the snapshot.
    const tokens = ENTRIES.map((name) => [name, vm.exportHandle(entries.getProp(name))] as const)
    return { snapshot: vm.snapshot(), tokens }
  })()

  return {
    engine,
    async create() {
      let host: MachineHost | undefined
      const vm = await QuickJS.restore(snapshot, { ...options, interruptHandler: () => host?.shouldStop() ?? false })
      const entries = Object.fromEntries(tokens.map(([name, token]) => [name, vm.importHandle(token)])) as Entries
      return createMachine({ vm, entries, limits, library, useHost: (to) => (host = to) })
    },
  }
}

interface MachineOptions {
  readonly vm: QuickJS
  readonly entries: Entries
  readonly limits: SandboxLimits
  readonly library: Pick<typeof quickjs, 'JSException' | 'EvalFlags'>
  /** Sets the host that the machine reports to. */
  readonly useHost: (host: MachineHost) => void
}

function createMachine({ vm, entries, limits, library, useHost }: MachineOptions): Machine {
  const { JSException, EvalFlags } = library
  const enter = (entry: Entry, ...args: readonly JSValueHandle[]): void => {
    // If memory ran out, a string or number is an invalid handle that must not be passed on.
    if (args.some((handle) => handle.typeof === 'unknown')) throw new RangeError('out of memory')
    vm.callFunction(entries[entry], vm.undefined, ...args).dispose()
  }
  const boolean = (value: boolean): JSValueHandle => {
    if (value) return vm.true
    return vm.false
  }

  let isScript = true
  const evalProgram = (code: string): JSValueHandle => {
    try {
      return vm.evalCode(code, FILE, EvalFlags.ASYNC)
    } catch (error) {
      if (!(error instanceof JSException) || error.message !== 'return not in a function') throw error
      isScript = false
      return vm.evalCode(`${FUNCTION_HEAD}${code}\n})()`, FILE)
    }
  }
  const placeIn = (stack: string): Place | undefined => {
    const [, line, column] = (PLACE.exec(stack) ?? []).map(Number)
    if (line === undefined || column === undefined) return undefined
    return { line, column: isScript || line > 1 ? column : Math.max(1, column - FUNCTION_HEAD.length) }
  }

  return {
    start(to, servers, tools) {
      useHost(to)
      registerCallbacks(vm, to, Math.max(limits.outputCharacters, MOST_ARGUMENT_CHARACTERS))
      const toList = (names: readonly string[]): JSValueHandle => vm.newString(JSON.stringify(names))
      enter('start', toList(servers), toList(tools), vm.newNumber(limits.outputCharacters))
    },
    evaluate(code) {
      let running: JSValueHandle
      try {
        running = evalProgram(code)
      } catch (error) {
        if (!(error instanceof JSException) || error.name !== 'SyntaxError') throw error
        return { name: error.name, message: error.message, ...placeIn(error.stack ?? '') }
      }
      enter('finish', running, boolean(isScript))
      vm.executePendingJobs()
      return undefined
    },
    placeIn,
    settle(call, isOk, text) {
      enter('settle', vm.newNumber(call), boolean(isOk), vm.newString(text))
      vm.executePendingJobs()
    },
    fire(timer) {
      enter('fire', vm.newNumber(timer))
      vm.executePendingJobs()
    },
    isOutOfMemory: (share = 0.9) => vm.getMemoryUsage().mallocSize > getMemoryLimit(limits) * share,
  }
}

function getMemoryLimit({ memoryMb }: SandboxLimits): number {
  return memoryMb * 2 ** 20
}

async function compileEngine(): Promise<Engine> {
  const { WebAssembly } = globalThis as unknown as {
    readonly WebAssembly: { compile(bytes: Uint8Array): Promise<Engine> }
  }
  return WebAssembly.compile(await readFile(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))))
}

function registerCallbacks(vm: QuickJS, host: MachineHost, mostCharacters: number): void {
  const plain = (handle: JSValueHandle | undefined): string | number | undefined =>
    readPlainValue(handle, mostCharacters)
  const callbacks: Readonly<Record<Callback, (...args: readonly JSValueHandle[]) => JSValueHandle>> = {
    post: (...args) => {
      const problem = host.post(args.map(plain))
      if (problem === undefined) return vm.undefined
      return vm.newString(problem)
    },
    has: (name) => {
      if (host.has(String(plain(name)))) return vm.true
      return vm.false
    },
    list: (server) => vm.newString(JSON.stringify(host.list(String(plain(server))))),
    random: () => vm.newNumber(Math.random()),
  }
  for (const name of CALLBACKS) vm.registerHostCallback(name, callbacks[name])
}

/** The engine library's result for a text if no memory is left. */
const UNREADABLE = '<null>'

/** Reads strings and numbers. Nothing else is read, because that could run code of the program. */
function readPlainValue(handle: JSValueHandle | undefined, mostCharacters: number): string | number | undefined {
  if (handle?.isNumber) return handle.toNumber()
  if (!handle?.isString || handle.length > mostCharacters) return undefined
  const text = handle.toString()
  if (text === UNREADABLE && handle.length !== UNREADABLE.length) return undefined
  return text
}
