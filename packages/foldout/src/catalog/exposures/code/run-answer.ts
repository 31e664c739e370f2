import { nearest } from '../../../core/text.ts'
import { markFoundNothing } from '../../found-nothing.ts'
import type { ToolContent, CallResult } from '../../tool.ts'
import type { Attachments } from './attachments.ts'
import { ALL_TOOLS, type FunctionFolder } from './function-folder.ts'
import type { ProgramError } from './contract/messages.ts'
import type { SandboxCall, SandboxRun } from './host/sandbox-run.ts'

export interface RunAnswerOptions {
  readonly run: SandboxRun
  readonly source: string
  readonly folder: FunctionFolder
  readonly attachments: Attachments
}

/** Formats the outcome of a program for the model that wrote it. */
export function formatRun({ run, source, folder, attachments }: RunAnswerOptions): CallResult {
  const { ok, logs, error, missingCharacters } = run
  const output = [
    ...logs.map(({ level, text }) => (level === 'warn' || level === 'error' ? `[${level}] ${text}` : text)),
    ...formatValue(run),
  ]
  const hint = error && findHint(error, findLine(error, source) ?? '', folder)
  const lines = [
    ...output,
    ...(missingCharacters > 0
      ? [`(${missingCharacters.toLocaleString('en')} more characters were left out. Log and return less.)`]
      : []),
    ...(error ? formatError(error, source, hint) : []),
    ...formatCalls(run),
  ]
  if (lines.length === 0) lines.push('Done. The program returned nothing and logged nothing.')
  const text: ToolContent = { type: 'text', text: lines.join('\n') }
  const result = { content: [text, ...attachments.findNamed(output.join('\n'))], ...(!ok && { isError: true }) }
  if (hint?.missing === undefined) return result
  return markFoundNothing(result, { name: hint.missing, arguments: {}, isPart: true })
}

function formatValue({ value, valueStart, logs }: SandboxRun): readonly string[] {
  const text = valueStart === undefined ? toText(value) : `${valueStart}…`
  if (text === undefined) return []
  return [logs.length > 0 ? `Returned: ${text}` : text]
}

function toText(value: SandboxRun['value']): string | undefined {
  if (typeof value === 'string') return value
  return JSON.stringify(value)
}

/** How much of a line of the program is shown, in characters. */
const MAX_LINE = 120

function findLine({ line }: ProgramError, source: string): string | undefined {
  if (line === undefined) return undefined
  return source.split('\n')[line - 1]?.trim().slice(0, MAX_LINE)
}

function formatError(error: ProgramError, source: string, hint: Hint | undefined): readonly string[] {
  const { name, message, line, column } = error
  const where = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`
  const written = findLine(error, source)
  return [`${name}: ${message}${where}`, ...(written ? [`  ${line} | ${written}`] : []), ...(hint ? [hint.text] : [])]
}

const MOST_MEANT = 3

const MEMBER = /([\p{L}_$][\p{L}\p{N}_$]*)(?:\.([\p{L}_$][\p{L}\p{N}_$]*)|\[['"]([^'"]+)['"]\])/gu

interface Hint {
  readonly text: string
  /** The function that does not exist. */
  readonly missing?: string
}

/** Suggests the function that a line probably means. The engine only says that something is not a function. */
function findHint({ name, message }: ProgramError, line: string, folder: FunctionFolder): Hint | undefined {
  const missing = name === 'ReferenceError' ? /^'?([^' ]+)'? is not defined/.exec(message)?.[1] : undefined
  if (missing !== undefined) {
    const meant = [...folder.functions.keys()].filter(
      (known) => known.endsWith(`.${missing}`) && !known.startsWith(`${ALL_TOOLS}.`),
    )
    if (meant.length > 0)
      return { text: `Tools are functions of their server: ${meant.slice(0, MOST_MEANT).join(', ')}.` }
    const [near] = nearest(missing, [...folder.servers.keys(), ALL_TOOLS], 1)
    if (near === undefined) return undefined
    return { text: `There is no server '${missing}'. Nearest: ${near}.` }
  }
  if (name !== 'TypeError') return undefined
  for (const [, server = '', plain, quoted] of line.matchAll(MEMBER)) {
    const member = `${server}.${plain ?? quoted}`
    if (folder.functions.has(member) || !(folder.servers.has(server) || server === ALL_TOOLS)) continue
    const own = [...folder.functions.keys()].filter((known) => known.startsWith(`${server}.`))
    const near = nearest(member, own)
    const text = `There is no function ${member}.${near.length > 0 ? ` Nearest: ${near.join(', ')}.` : ''}`
    return { text, missing: member }
  }
  return undefined
}

function formatCalls({ ok, calls }: SandboxRun): readonly string[] {
  const cancelled = calls.filter((call) => call.cancelled)
  const succeeded = calls.filter((call) => call.ok)
  const lines: string[] = []
  // Otherwise, the model would repeat calls that have already succeeded.
  if (!ok && succeeded.length > 0) lines.push(`Before that, these calls succeeded: ${formatCounts(succeeded)}.`)
  if (cancelled.length > 0) {
    const advice = ok ? ' Await every call.' : ''
    lines.push(`The program ended before these calls, which were cancelled: ${formatCounts(cancelled)}.${advice}`)
  }
  return lines
}

function formatCounts(calls: readonly SandboxCall[]): string {
  const counts = new Map<string, number>()
  for (const { name } of calls) counts.set(name, (counts.get(name) ?? 0) + 1)
  return Array.from(counts, ([name, count]) => (count === 1 ? name : `${name} ×${count}`)).join(', ')
}
