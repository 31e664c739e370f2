import { isObject } from './documents/document.ts'

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

const REFERENCE = /\$?\{(env|input|workspaceFolder|workspaceRoot|userHome)(?::([^{}]*))?\}/g
/** mcporter writes `$env:NAME`. In the middle of a text, that is a program for PowerShell. */
const BARE_REFERENCE = /^(Bearer )?\$env:([A-Za-z_]\w*)$/

/** Rewrites other clients' variables in the gateway's syntax: `${NAME}`, `${NAME:-default}` and `${ROOT}`. */
export function convertVariables(
  text: string,
  inputs: ReadonlyMap<string, Input>,
  onNote: (note: string) => void,
): string {
  const braced = text.replace(BARE_REFERENCE, '$1$${env:$2}')
  return braced.replaceAll(REFERENCE, (whole, kind: string, name: string | undefined) => {
    if (name === undefined && whole.startsWith('$')) {
      if (kind === 'userHome') return '${HOME}'
      if (kind === 'workspaceFolder' || kind === 'workspaceRoot') return '${ROOT}'
    }
    // opencode writes `{env:NAME}`.
    if (kind === 'env' && name !== undefined && /^[A-Za-z_]\w*$/.test(name)) return `\${${name}}`
    if (kind !== 'input' || name === undefined || !whole.startsWith('$')) return whole
    return convertInput(name, inputs.get(name), onNote)
  })
}

function convertInput(id: string, input: Input | undefined, onNote: (note: string) => void): string {
  const variable = toVariable(id)
  const description = input?.description ? ` (${input.description})` : ''
  const isSafe = input?.fallback !== undefined && !/[{}]/.test(input.fallback)
  onNote(`set the environment variable ${variable}${description}, which VS Code asks for`)
  return isSafe ? `\${${variable}:-${input.fallback}}` : `\${${variable}}`
}

/** `github-token` becomes `GITHUB_TOKEN`. */
function toVariable(id: string): string {
  const name = id
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d|$)/, '_')
  return name
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
