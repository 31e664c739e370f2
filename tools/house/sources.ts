import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync, type Comment, type EcmaScriptModule, type Program } from 'oxc-parser'

/** A source file of a package, parsed. */
export interface Source {
  /** From the repository's root, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly lines: number
  readonly program: Program
  readonly module: EcmaScriptModule
  readonly comments: readonly Comment[]
}

const SOURCE = /^packages\/[\w-]+\/(page\/)?src\/.*(?<!\.test|\.fixtures)\.tsx?$/
/** Generated, so its length and style do not count. */
const GENERATED = /\/word-vectors\.ts$/
const SUITE = /\/testing\/(.*\/)?([\w-]+-)?suites?(\/|\.ts$)/

/** Reads every source file of every package, except tests, fixtures and generated files. */
export function readSources(root: string): readonly Source[] {
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'packages'], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => SOURCE.test(path) && !GENERATED.test(path))
    .flatMap((path) => {
      const text = readIfPresent(join(root, path))
      return text === undefined ? [] : [parseSource(path, text)]
    })
}

/** The suites that `foldout/testing/suites` ships are long lists of tests, so their functions are not measured. */
export function isSuite(path: string): boolean {
  return SUITE.test(path)
}

export function isEntry(path: string): boolean {
  return /^packages\/[\w-]+\/src\/entries\//.test(path)
}

export function parseSource(path: string, text: string): Source {
  const { program, module, comments, errors } = parseSync(path, text)
  const [error] = errors
  if (error) throw new Error(`${path} does not parse: ${error.message}`)
  return { path, text, lines: countLines(text), program, module, comments }
}

/** The repository path that a relative import resolves to; undefined for a package. */
export function resolveImport(from: string, target: string): string | undefined {
  return target.startsWith('.') ? join(dirname(from), target) : undefined
}

/** The modules that a file imports or re-exports, as written. */
export function getImportTargets(source: Source): readonly string[] {
  const { module } = source
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => (moduleRequest ? [moduleRequest.value] : [])),
    ),
    ...getDynamicTargets(source),
  ]
}

/** The modules that a file imports on demand, as written. */
export function getDynamicTargets({ text, module }: Source): readonly string[] {
  return module.dynamicImports.flatMap(({ moduleRequest }) => {
    const literal = /^['"](.+)['"]$/.exec(text.slice(moduleRequest.start, moduleRequest.end))
    return literal?.[1] === undefined ? [] : [literal[1]]
  })
}

function countLines(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

/** Git may list a file that was just deleted; that is not an error. */
function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
