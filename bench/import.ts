import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './measure.ts'
import { goal, progress, type Bench, type Goal, type Row } from './report.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const library = join(root, 'packages/foldout')
/** Inside the repository, so that dependencies are found from there. */
const folder = join(root, 'node_modules/.cache/foldout-import-bench')

/** The entries that most people import first. */
const ENTRIES = ['index', 'catalog', 'mcp'] as const
const LIMIT_MS = 40

interface Build {
  readonly name: string
  readonly getFile: (entry: string) => string
}
const BUNDLED: Build = { name: 'bundled', getFile: (entry) => join(library, 'dist', `${entry}.js`) }
const UNBUNDLED: Build = { name: 'unbundled', getFile: (entry) => join(folder, 'entries', `${entry}.js`) }

/** CPU milliseconds to import an entry in a fresh process, bundled and compiled file by file. */
export async function measureImports({ quick }: { readonly quick: boolean }): Promise<{
  readonly rows: readonly Row[]
  readonly goals: readonly Goal[]
}> {
  progress('Compiling the library file by file …')
  compileUnbundled()
  try {
    const rows = ENTRIES.map((entry) => measureEntry(entry, quick ? 3 : 15))
    return { rows, goals: rows.flatMap(getGoals) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const importBench: Bench = {
  name: 'import',
  question: 'What does it cost to import the library?',
  columns: [
    { key: 'entry', label: 'entry' },
    { key: 'bundledMs', label: 'bundled, CPU ms' },
    { key: 'unbundledMs', label: 'file by file, CPU ms' },
    { key: 'ratio', label: 'ratio' },
    { key: 'bundledFiles', label: 'files' },
    { key: 'unbundledFiles', label: 'file by file, files' },
  ],
  run: measureImports,
}

function compileUnbundled(): void {
  rmSync(folder, { recursive: true, force: true })
  compilePackage('foldout', folder)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  const shared = join(folder, 'node_modules/foldout-shared')
  compilePackage('shared', shared)
  writeFileSync(join(shared, 'package.json'), '{ "type": "module", "exports": { "./*": "./*.js" } }\n')
}

function compilePackage(name: string, outDir: string): void {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const options = ['-p', 'tsconfig.build.json', '--outDir', outDir, '--declaration', 'false']
  const { status, stdout } = spawnSync(process.execPath, [compiler, ...options, '--emitDeclarationOnly', 'false'], {
    cwd: join(root, 'packages', name),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`packages/${name} does not compile:\n${stdout}`)
  mkdirSync(outDir, { recursive: true })
}

/** The two take turns, so that other load on the machine affects both alike. */
function measureEntry(entry: string, rounds: number): Row {
  progress(`Importing ${entry} …`)
  const times = new Map<Build, number[]>([
    [BUNDLED, []],
    [UNBUNDLED, []],
  ])
  for (let round = 0; round < rounds; round++) {
    for (const [build, own] of times) own.push(importOnce(build.getFile(entry)))
  }
  const [bundledMs = 0, unbundledMs = 0] = [...times.values()].map(median)
  return {
    entry: entry === 'index' ? 'foldout' : `foldout/${entry}`,
    bundledMs,
    unbundledMs,
    ratio: bundledMs / unbundledMs,
    bundledFiles: countFiles(BUNDLED.getFile(entry)),
    unbundledFiles: countFiles(UNBUNDLED.getFile(entry)),
  }
}

function getGoals({ entry, bundledMs, ratio }: Row): readonly Goal[] {
  return [
    goal(`${entry}: CPU ms`, Number(bundledMs), '<', LIMIT_MS),
    goal(`${entry}: to file by file`, Number(ratio), '<', 1),
  ]
}

const PROGRAM = `
  const before = process.cpuUsage()
  await import(process.argv[1])
  const { user, system } = process.cpuUsage(before)
  process.stdout.write(String((user + system) / 1000))`

function importOnce(file: string): number {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', PROGRAM, '--', file],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(stderr)
  return Number(stdout)
}

/** The library's own files that an entry loads when it is imported. */
function countFiles(entry: string): number {
  const reached = new Set([entry])
  for (const file of reached) {
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(
      /^(?:import|export)\b[^'"]*['"](\.[^'"]+)['"]/gm,
    )) {
      reached.add(join(dirname(file), target))
    }
  }
  return reached.size
}
