import { readFile } from 'node:fs/promises'
import { createContext, runInContext } from 'node:vm'
import { createSandbox, type Sandbox, type SandboxFunction } from 'foldout/code'
import { EvalFlags, QuickJS } from 'quickjs-wasi'
import { measure, median, QUICK, THOROUGH, type Contender } from './measure.ts'
import { goal, progress, type Bench, type BenchOptions, type Row } from './report.ts'

const PROGRAM = "const answer = await home.set_light({ room: 'kitchen', on: true })\nreturn answer.on"
const TYPED_PROGRAM = `const room: string = 'kitchen'\n${PROGRAM.replace("'kitchen'", 'room')}`

const setLight: SandboxFunction = async (args) => args
const functions = new Map([['home.set_light', setLight]])

const SANDBOX = 'foldout/code: TypeScript, a fresh machine in a thread'
const IN_PROCESS = 'quickjs-wasi: JavaScript, a fresh machine in the same thread'
const NODE_VM = 'node:vm: JavaScript, a fresh context, no sandbox'

export const codeBench: Bench = {
  name: 'code',
  question: 'What does it cost to run a program that makes one call?',
  columns: [
    { key: 'what', label: 'what' },
    { key: 'milliseconds', label: 'ms' },
    { key: 'worst', label: 'ms, 99th percentile' },
    { key: 'times', label: 'times node:vm' },
  ],
  async run(options) {
    const sandbox = createSandbox()
    try {
      return await measureAll(sandbox, options)
    } finally {
      sandbox.close()
    }
  },
}

async function measureAll(sandbox: Sandbox, options: BenchOptions): ReturnType<Bench['run']> {
  progress('Starting ...')
  const cold = await samples(options.quick ? 2 : 10, coldStart)
  progress('Running beyond the call ...')
  const beyond = await samples(options.quick ? 20 : 500, () => beyondTheCall(sandbox, functions))
  const crowd = manyFunctions(15_000)
  const beyondCrowd = await samples(options.quick ? 5 : 100, () => beyondTheCall(sandbox, crowd))
  progress('Running 100 programs ...')
  const hundred = await samples(options.quick ? 1 : 5, () => sideBySide(sandbox, 100))
  progress('Comparing ...')
  const compared = await measure(await contenders(sandbox), options.quick ? QUICK : THOROUGH)
  const base = compared.get(NODE_VM)!
  return {
    rows: [
      row('first program of a new sandbox', cold),
      row('warm program, beyond its call', beyond),
      row('warm program, beyond its call, with 15,000 functions to call', beyondCrowd),
      row('100 programs side by side', hundred),
      ...Array.from(compared, ([what, nanoseconds]) => ({
        what,
        milliseconds: nanoseconds / 1e6,
        worst: null,
        times: nanoseconds / base,
      })),
    ],
    goals: [
      goal('milliseconds of a warm program beyond its call', median(beyond), '<', 10),
      goal('the same with 15,000 functions to call', median(beyondCrowd), '<', 10),
    ],
  }
}

function row(what: string, values: readonly number[]): Row {
  const sorted = [...values].sort((a, b) => a - b)
  const worst = values.length < 100 ? null : sorted[Math.floor(values.length * 0.99)]!
  return { what, milliseconds: median(values), worst, times: null }
}

async function samples(count: number, sample: () => Promise<number>): Promise<readonly number[]> {
  const values: number[] = []
  // The first runs are warm-up.
  for (let i = -Math.ceil(count / 10); i < count; i++) {
    const value = await sample()
    if (i >= 0) values.push(value)
  }
  return values
}

async function coldStart(): Promise<number> {
  const startedAt = performance.now()
  const sandbox = createSandbox()
  await runOnce(sandbox, functions)
  const milliseconds = performance.now() - startedAt
  sandbox.close()
  return milliseconds
}

async function beyondTheCall(sandbox: Sandbox, given: ReadonlyMap<string, SandboxFunction>): Promise<number> {
  const startedAt = performance.now()
  const [call] = await runOnce(sandbox, given)
  return performance.now() - startedAt - call!.durationMs
}

async function sideBySide(sandbox: Sandbox, programs: number): Promise<number> {
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: programs }, () => runOnce(sandbox, functions)))
  return performance.now() - startedAt
}

async function runOnce(sandbox: Sandbox, given: ReadonlyMap<string, SandboxFunction>) {
  const { value, calls } = await sandbox.run(TYPED_PROGRAM, { functions: given })
  if (value !== true) throw new Error('The program has not done its work.')
  return calls
}

function manyFunctions(count: number): ReadonlyMap<string, SandboxFunction> {
  const others = Array.from({ length: count }, (_, i) => [`server${i % 100}.tool_${i}`, setLight] as const)
  return new Map([...functions, ...others])
}

async function contenders(sandbox: Sandbox): Promise<Contender[]> {
  const wasm = await compile(await readFile(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))))
  return [
    { name: NODE_VM, run: () => runInContext(`(async () => {${PROGRAM}})()`, contextWithCall()) as Promise<unknown> },
    { name: IN_PROCESS, run: () => runInProcess(wasm) },
    { name: SANDBOX, run: () => runOnce(sandbox, functions) },
  ]
}

function contextWithCall() {
  return createContext({ home: { set_light: (args: unknown) => setLight(args, new AbortController().signal) } })
}

async function runInProcess(wasm: object): Promise<void> {
  const vm = await QuickJS.create({ wasm: wasm as never, memoryLimit: 64 * 2 ** 20, interruptHandler: () => false })
  const call = vm.newFunction('set_light', (args) => {
    const deferred = vm.newPromise()
    const settle = async (): Promise<void> => {
      deferred.resolve(vm.hostToHandle(await setLight(vm.dump(args), new AbortController().signal)))
      vm.executePendingJobs()
    }
    void settle()
    return deferred.handle
  })
  const home = vm.newObject()
  vm.setProp(home, 'set_light', call)
  vm.setProp(vm.global, 'home', home)
  const running = vm.evalCode(`(async () => {${PROGRAM}})()`, 'program', EvalFlags.TYPE_GLOBAL)
  vm.executePendingJobs()
  const settled = await vm.resolvePromise(running)
  if (!('value' in settled) || vm.dump(settled.value) !== true) throw new Error('The program has not done its work.')
  vm.dispose()
}

function compile(bytes: Uint8Array): Promise<object> {
  const { WebAssembly } = globalThis as unknown as {
    readonly WebAssembly: { compile(bytes: Uint8Array): Promise<object> }
  }
  return WebAssembly.compile(bytes)
}
