import { parseArgs } from 'node:util'
import { printResult, rounded, type Bench, type BenchResult } from './report.ts'

const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  code: async () => (await import('./code.ts')).codeBench,
  compare: async () => (await import('./compare.ts')).compareBench,
  cost: async () => (await import('./cost.ts')).costBench,
  doors: async () => (await import('./doors.ts')).doorsBench,
  fleet: async () => (await import('./fleet/fleet.ts')).fleetBench,
  gateway: async () => (await import('./gateway/gateway.ts')).gatewayBench,
  hosts: async () => (await import('./hosts.ts')).hostsBench,
  import: async () => (await import('./import.ts')).importBench,
  long: async () => (await import('./long.ts')).longBench,
  loop: async () => (await import('./loop.ts')).loopBench,
  memory: async () => (await import('./memory.ts')).memoryBench,
  render: async () => (await import('./render.ts')).renderBench,
  tasks: async () => (await import('./tasks/tasks.ts')).tasksBench,
  session: async () => (await import('./session.ts')).sessionBench,
  tokens: async () => (await import('./tokens.ts')).tokensBench,
  types: async () => (await import('./types.ts')).typesBench,
}

interface Arguments {
  readonly name: string | undefined
  readonly json: boolean
  readonly quick: boolean
  readonly data: readonly string[]
}

function readArguments(): Arguments {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        data: { type: 'string', multiple: true, default: [] },
      },
    })
    if (positionals.length > 1) refuse(`Run one bench at a time, not ${positionals.join(' and ')}.`)
    return { name: positionals[0], json: values.json, quick: values.quick, data: values.data }
  } catch (error) {
    // The rest of the message explains how to pass a name that begins with a hyphen.
    return refuse(`${(error as Error).message.split('. ')[0]!}.`)
  }
}

function refuse(message: string): never {
  console.error(`${message}\n\nUsage: npm run bench -- <name> [--json] [--quick] [--data <folder>]`)
  process.exit(2)
}

async function list(): Promise<void> {
  console.log('npm run bench -- <name> [--json] [--quick]\n')
  for (const load of Object.values(benches)) {
    const { name, question } = await load()
    console.log(`  ${name.padEnd(8)}  ${question}`)
  }
}

const { name, json, quick, data } = readArguments()
if (name === undefined) {
  await list()
} else {
  if (!Object.hasOwn(benches, name)) {
    refuse(`There is no bench '${name}'. There are: ${Object.keys(benches).join(', ')}.`)
  }
  const bench = await benches[name]!()
  const result: BenchResult = { bench: name, ...(await bench.run({ quick, files: data })) }
  printResult(bench, result)
  if (json)
    console.log(JSON.stringify(result, (_key, value: unknown) => (typeof value === 'number' ? rounded(value) : value)))
}
