import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { goal, progress, type Bench, type Goal, type Row } from './report.ts'
import { typedPromptSource } from './typed-prompt-source.ts'

const SIZES = [0, 250, 1_000] as const

interface Compiler {
  readonly name: string
  /** The script that node runs. */
  readonly script: string
}

interface Cost {
  readonly instantiations: number
  readonly checkSeconds: number
  readonly memoryMegabytes: number
}

type Costs = ReadonlyMap<number, Cost>

export const typesBench: Bench = {
  name: 'types',
  question: 'How much work is a typed prompt for the compiler as it grows?',
  columns: [
    { key: 'compiler', label: 'compiler' },
    { key: 'sections', label: 'sections' },
    { key: 'instantiations', label: 'instantiations' },
    { key: 'instantiationsPerSection', label: 'per section' },
    { key: 'checkSeconds', label: 'check s' },
    { key: 'memoryMegabytes', label: 'memory MB' },
  ],
  async run({ quick }) {
    const rows: Row[] = []
    const goals: Goal[] = []
    const compilers = quick ? installedCompilers().slice(0, 1) : installedCompilers()
    for (const { name, script } of compilers) {
      const costs = new Map<number, Cost>()
      for (const size of SIZES) {
        progress(`${name}, ${size.toLocaleString('en')} sections ...`)
        costs.set(size, await check(script, size))
      }
      rows.push(...SIZES.map((size) => toRow(name, size, costs)))
      goals.push(...toGoals(name, costs))
    }
    return { rows, goals }
  },
}

const require = createRequire(import.meta.url)

/** The project's compiler, and an older one if it is installed too. */
function installedCompilers(): Compiler[] {
  return ['typescript', 'typescript-5.9'].flatMap((packageName) => {
    let manifest: string
    try {
      manifest = require.resolve(`${packageName}/package.json`)
    } catch {
      return []
    }
    const script = join(dirname(manifest), 'bin/tsc')
    const { version } = require(manifest) as { readonly version: string }
    return existsSync(script) ? [{ name: `TypeScript ${version}`, script }] : []
  })
}

const bench = dirname(fileURLToPath(import.meta.url))

/** Compiles a prompt in its own folder beside this file, where the package's dependencies are found. */
async function check(script: string, size: number): Promise<Cost> {
  const folder = await mkdtemp(join(bench, '.types-'))
  try {
    await writeFile(join(folder, 'prompt.ts'), typedPromptSource(size))
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: '../../tsconfig.base.json',
        compilerOptions: { noEmit: true, allowImportingTsExtensions: true, noUnusedLocals: false },
        files: ['prompt.ts'],
      }),
    )
    return readDiagnostics(await compile(script, folder))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function compile(script: string, folder: string): Promise<string> {
  try {
    const args = [script, '--noEmit', '--extendedDiagnostics', '-p', join(folder, 'tsconfig.json')]
    return (await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 26 })).stdout
  } catch (error) {
    const { stdout = '' } = error as { readonly stdout?: string }
    throw new Error(`The prompt does not compile:\n${stdout.slice(0, 2_000)}`, { cause: error })
  }
}

function readDiagnostics(text: string): Cost {
  const figure = (label: string): number => {
    const found = new RegExp(`^${label}:\\s*([\\d.,]+)`, 'm').exec(text)?.[1]
    if (found === undefined) throw new Error(`The compiler's diagnostics have no '${label}':\n${text}`)
    return Number(found.replaceAll(',', ''))
  }
  return {
    instantiations: figure('Instantiations'),
    checkSeconds: figure('Check time'),
    memoryMegabytes: figure('Memory used') / 1_024,
  }
}

function toRow(compiler: string, size: number, costs: Costs): Row {
  const instantiationsPerSection = size === 0 ? null : perSection(size, costs)
  return { compiler, sections: size, ...costs.get(size)!, instantiationsPerSection }
}

/** Without the cost of checking the library itself. */
function perSection(size: number, costs: Costs): number {
  return (costs.get(size)!.instantiations - costs.get(0)!.instantiations) / size
}

function toGoals(compiler: string, costs: Costs): Goal[] {
  const at250 = perSection(250, costs)
  return [
    goal(`instantiations per section at 250, ${compiler}`, at250, '<', 300),
    goal(`instantiations per section at 1,000 / at 250, ${compiler}`, perSection(1_000, costs) / at250, '<=', 1.2),
  ]
}
