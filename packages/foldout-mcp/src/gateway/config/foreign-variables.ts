import { isObject } from 'foldout-shared/values'

/** An input prompt of VS Code, whose answer a text refers to. */
export interface Input {
  readonly description: string | undefined
  readonly fallback: string | undefined
}

/** The input prompts of a file, by id. */
export function readInputs(root: unknown): ReadonlyMap<string, Input> {
  const inputs = isObject(root) && Array.isArray(root['inputs']) ? (root['inputs'] as readonly unknown[]) : []
  return new Map(
    inputs.flatMap((input) => {
      if (!isObject(input) || typeof input['id'] !== 'string') return []
      const { id, description, default: fallback } = input
      return [[id, { description: toText(description), fallback: toText(fallback) }] as const]
    }),
  )
}

const REFERENCE = /\$\{(?:env:([A-Za-z_]\w*)|input:([^{}]+)|(workspaceFolder|workspaceRoot|userHome))\}/g

/** Rewrites the variables of Cursor and VS Code in the gateway's syntax: `${NAME}`, `${NAME:-default}` and `${ROOT}`. */
export function convertVariables(
  text: string,
  inputs: ReadonlyMap<string, Input>,
  onNote?: (note: string) => void,
): string {
  return text.replaceAll(REFERENCE, (_whole, name?: string, input?: string, place?: string) => {
    if (name !== undefined) return `\${${name}}`
    if (input !== undefined) return convertInput(input, inputs.get(input), onNote)
    if (place === 'userHome') return '${HOME}'
    return '${ROOT}'
  })
}

function convertInput(id: string, input: Input | undefined, onNote?: (note: string) => void): string {
  const variable = toVariable(id)
  const description = input?.description ? ` (${input.description})` : ''
  const isSafe = input?.fallback !== undefined && !/[{}]/.test(input.fallback)
  onNote?.(`set the environment variable ${variable}${description}, which VS Code asks for`)
  if (isSafe) return `\${${variable}:-${input.fallback}}`
  return `\${${variable}}`
}

/** Variables that nearly every environment has, and the gateway's own. They are never the answer to a question. */
const TAKEN: ReadonlySet<string> = new Set(
  'DISPLAY EDITOR HOME HOST HOSTNAME LANG LOGNAME MAIL OLDPWD PATH PWD ROOT SHELL TEMP TERM TMP TMPDIR TZ USER USERNAME'.split(
    ' ',
  ),
)

/** `github-token` becomes `GITHUB_TOKEN`, and `path` becomes `INPUT_PATH`. */
export function toVariable(id: string): string {
  const name = id
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d|$)/, '_')
  if (TAKEN.has(name)) return `INPUT_${name}`
  return name
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value
  return undefined
}

/** The settings of a server whose texts may contain variables. */
const FILLED: ReadonlySet<string> = new Set(
  'command args env envFile cwd url serverUrl httpUrl headers auth'.split(' '),
)

/** The settings of a server, with all variables in the gateway's syntax. */
export function convertSettings<Settings extends object>(
  settings: Settings,
  inputs: ReadonlyMap<string, Input>,
): Settings {
  const convert = (value: unknown): unknown => {
    if (typeof value === 'string') return convertVariables(value, inputs)
    return value
  }
  const convertAll = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(convert)
    if (!isObject(value)) return convert(value)
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, convert(one)]))
  }
  const pairs = Object.entries(settings).map(([key, value]: [string, unknown]) => [
    key,
    FILLED.has(key) ? convertAll(value) : value,
  ])
  return Object.fromEntries(pairs) as Settings
}
