import { getVariable } from '../../system/environment.ts'

/** The values that texts of a configuration may refer to. */
export interface Variables {
  readonly env: NodeJS.ProcessEnv
  /** The client's working folder. */
  readonly root: string | undefined
}

/** A variable, the beginning of one with a default, or another brace. */
const TOKEN = /\$\{([A-Za-z_]\w*)(\}|:-)|[{}]/g
const ROOT = /\$\{ROOT(?:\}|:-)/

/** A part of a text, filled in so far: the whole text, a default, or what is between other braces. */
interface Part {
  readonly outer: Part | undefined
  /** How the part begins. */
  readonly start: string
  /** The variable whose default it is. */
  readonly name: string | undefined
  text: string
  /** The first variable in it that has no value. */
  missing: string | undefined
}

function openPart(outer: Part | undefined, start: string, name: string | undefined): Part {
  return { outer, start, name, text: '', missing: undefined }
}

/**
 * Fills in `${NAME}` and `${NAME:-default}`, as MCP clients do. A default may contain variables and pairs of braces. A brace that nothing
 * closes is a character like any other. The text is read once, so that this takes linear time, however deep its defaults are.
 *
 * @throws Error if a variable is not set and has no default.
 */
export function fillVariables(text: string, variables: Variables): string {
  const filled = fillParts(text, variables)
  if (filled.missing !== undefined) throw new Error(describeMissing(filled.missing))
  return filled.text
}

type OnUse = (variable: UsedVariable) => void

function fillParts(text: string, variables: Variables, onUse?: OnUse): Part {
  let part = openPart(undefined, '', undefined)
  let from = 0
  for (const { 0: token, 1: name, 2: end, index } of text.matchAll(TOKEN)) {
    part.text += text.slice(from, index)
    from = index + token.length
    if (name !== undefined && end === '}') addVariable(part, name, variables, onUse)
    else if (token !== '}') part = openPart(part, token, name)
    else if (part.outer) part = closePart(part, part.outer, variables, onUse)
    else part.text += token
  }
  part.text += text.slice(from)
  while (part.outer) part = addPart(part.outer, part, part.start)
  return part
}

function addVariable(part: Part, name: string, variables: Variables, onUse?: OnUse): void {
  const value = findValue(name, variables)
  if (value === undefined) part.missing ??= name
  else {
    onUse?.({ name, value, isDefault: false })
    part.text += value
  }
}

function closePart(part: Part, outer: Part, variables: Variables, onUse?: OnUse): Part {
  const { name, start, text } = part
  if (name === undefined) return addPart(outer, part, start, '}')
  const value = findValue(name, variables)
  onUse?.({ name, value: value ?? text, isDefault: value === undefined })
  if (value === undefined) return addPart(outer, part)
  outer.text += value
  return outer
}

function addPart(outer: Part, { text, missing }: Part, before = '', after = ''): Part {
  outer.text += `${before}${text}${after}`
  outer.missing ??= missing
  return outer
}

/** A variable that is set to an empty text has no value. */
function findValue(name: string, { env, root }: Variables): string | undefined {
  if (name === 'ROOT' && root !== undefined) return root
  // Windows has another name for the user's folder.
  return getVariable(env, name) || (name === 'HOME' && getVariable(env, 'USERPROFILE')) || undefined
}

function describeMissing(name: string): string {
  if (name === 'ROOT') return 'It needs ${ROOT}, the working folder of the client, but the client does not name one.'
  return `The environment variable ${name} is not set.`
}

/** A variable that a text refers to. */
export interface UsedVariable {
  readonly name: string
  /** What is filled in. */
  readonly value: string
  /** Whether the text itself has the value, because the variable is not set. */
  readonly isDefault: boolean
}

/** The variables that a text refers to, also in defaults. */
export function listVariables(text: string, variables: Variables): readonly UsedVariable[] {
  const used: UsedVariable[] = []
  fillParts(text, variables, (variable) => used.push(variable))
  return used
}

/** Whether a text depends on the folder of the client. */
export function usesRoot(text: string): boolean {
  return ROOT.test(text)
}
