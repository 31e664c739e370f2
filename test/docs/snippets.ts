// Reads the TypeScript snippets of the README, the guide and the reference, and writes each as a module that can be compiled and run.
//
// - `<!-- continues -->` before a fence joins the snippet to the one above it.
// - `<!-- not run: why -->` compiles the snippet without running it.
// - `expression // => value` asserts the value of the expression.
// - Names that a snippet uses but does not declare are imported from `preambles/<page>.ts`.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export interface Snippet {
  readonly page: string
  readonly line: number
  readonly code: string
  readonly runs: boolean
}

const repository = join(import.meta.dirname, '../..')
const generated = join(import.meta.dirname, 'generated/pages')

export const pages: readonly string[] = [
  'README.md',
  ...['docs', 'docs/guide'].flatMap((folder) =>
    readdirSync(join(repository, folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => `${folder}/${file}`),
  ),
]

/** The snippets of a page in order; a snippet that continues another contains the other's code too. */
export function readSnippets(page: string): readonly Snippet[] {
  const lines = readFileSync(join(repository, page), 'utf8').split('\n')
  const snippets: Snippet[] = []
  for (let i = 0; i < lines.length; i++) {
    if (lines[i] !== '```ts') continue
    const end = lines.indexOf('```', i)
    const marks = lines.slice(Math.max(0, i - 2), i).join(' ')
    const previous = marks.includes('<!-- continues -->') ? `${snippets.at(-1)?.code ?? ''}\n` : ''
    const code = previous + lines.slice(i + 1, end).join('\n')
    snippets.push({ page, line: i + 1, code, runs: !marks.includes('<!-- not run') })
    i = end
  }
  return snippets
}

/** Writes every snippet as a module and returns the files, so that one run of the compiler can check them all. */
export function writeModules(): ReadonlyMap<Snippet, string> {
  rmSync(generated, { recursive: true, force: true })
  mkdirSync(generated, { recursive: true })
  const files = new Map<Snippet, string>()
  for (const page of pages) {
    for (const snippet of readSnippets(page)) {
      const file = join(generated, `${basename(page, '.md')}-${snippet.line}.ts`)
      writeFileSync(file, toModule(snippet))
      files.set(snippet, file)
    }
  }
  return files
}

/** Compiles the modules of a project, and returns the compiler's output. */
export function compile(project: string): string {
  const { stdout } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project], {
    cwd: repository,
    encoding: 'utf8',
  })
  return stdout
}

function toModule({ page, code }: Snippet): string {
  const name = basename(page, '.md')
  const preamble = join(import.meta.dirname, 'preambles', `${name}.ts`)
  const given = existsSync(preamble) ? readExports(preamble) : []
  const used = given.filter((word) => new RegExp(`\\b${word}\\b`).test(code) && !isDeclared(word, code))
  return [
    `// From ${page}. Do not edit.`,
    ...(used.length > 0 ? [`import { ${used.join(', ')} } from '../../preambles/${name}.ts'`] : []),
    addChecks(code),
    'export {}',
    '',
  ].join('\n')
}

/** Turns every `expression // => value` into a check. */
export function addChecks(code: string): string {
  const checked = code.replaceAll(
    /^(\s*)(.+?)\s+\/\/ => (.*)$/gm,
    (_, indent: string, expression: string, value: string) =>
      `${indent}check(${expression}, ${JSON.stringify(value.trim())})`,
  )
  return checked === code ? code : `import { check } from '../../check.ts'\n${checked}`
}

/** The names that a preamble exports, declared or re-exported. */
export function readExports(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  const declared = text.matchAll(/^export (?:declare )?(?:const|function|async function|class|type|interface) (\w+)/gm)
  const passedOn = text.matchAll(/^export \{ (.+) \} from/gm)
  return [
    ...[...declared].flatMap(([, name]) => (name === undefined ? [] : [name])),
    ...[...passedOn].flatMap(([, names]) => names?.split(', ') ?? []),
  ]
}

export function isDeclared(word: string, code: string): boolean {
  const declared = new RegExp(`\\b(?:const|let|function|class|type|interface) ${word}\\b`)
  const imported = new RegExp(`import [^']*\\b${word}\\b[^']*from`)
  const destructured = new RegExp(`\\b(?:const|let) [{[][^=}\\]]*\\b${word}\\b[^=}\\]]*[}\\]](?:: [^=]+)? =`)
  return declared.test(code) || imported.test(code) || destructured.test(code)
}
