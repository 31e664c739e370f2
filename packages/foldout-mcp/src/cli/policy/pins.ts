import { isObject } from 'foldout-shared/values'
import { formatCount } from 'foldout-shared/numbers'
import type { Unapproved } from '../../gateway/policy/pins/pins.ts'
import { showInvisible } from '../../shared/visible.ts'
import type { ToolDefinition } from '../../gateway/model/snapshot.ts'
import { EXIT } from '../support/exit-codes.ts'
import type { Surroundings } from '../support/surroundings.ts'
import { withStore } from '../support/store.ts'
import { createStyler, formatTable } from '../support/text.ts'
import type { PolicyOptions } from './approvals.ts'

/** `foldout pins`: lists the accepted tool definitions and what has changed since. Returns the exit code. */
export async function listPins(options: PolicyOptions, surroundings: Surroundings): Promise<number> {
  const { stdout } = surroundings
  const [servers, unapproved] = await withStore(options, surroundings, ({ pins }) =>
    Promise.all([pins.list(), pins.listUnapproved()]),
  )
  if (options.json) {
    const document = {
      servers: servers.map(({ server, set, tools }) => ({ server, hash: set, tools: tools.length })),
      unapproved: unapproved.map(toJson),
    }
    stdout.write(`${JSON.stringify(document, null, 2)}\n`)
    return EXIT.done
  }
  if (servers.length === 0)
    stdout.write('No tool definitions are pinned yet. The gateway pins them the first time it connects to a server.\n')
  const rows = servers.map(({ server, set, tools }) => [
    showInvisible(server),
    formatCount(tools.length, 'tool'),
    set.slice(0, 12),
  ])
  for (const line of formatTable(rows)) stdout.write(`${line}\n`)
  stdout.write(formatUnapproved(unapproved, surroundings))
  if (unapproved.length > 0) stdout.write('To accept them: foldout approve <server> [tool], or foldout approve --all\n')
  return EXIT.done
}

/** Formats the differences as text. */
export function formatUnapproved(unapproved: readonly Unapproved[], { stdout, env }: Surroundings): string {
  const style = createStyler(stdout, env)
  const lines = unapproved.flatMap(({ server, tool, before, after }) => [
    `\n${style('bold', oneLine(`${server}/${tool}`))} is ${before ? 'different now' : 'new'}`,
    ...compareDefinitions(before, after).map(({ sign, text }) =>
      style(sign === '-' ? 'red' : 'yellow', `  ${sign} ${oneLine(text)}`),
    ),
  ])
  if (lines.length === 0) return ''
  return `${lines.join('\n')}\n\n`
}

function oneLine(text: string): string {
  return showInvisible(text).replaceAll('\n', '<U+000A>').replaceAll('\t', '<U+0009>')
}

export function toJson({ server, tool, before, after }: Unapproved): object {
  const changes = compareDefinitions(before, after).map(({ sign, text }) => `${sign} ${text}`)
  return { server, tool, isNew: before === undefined, changes }
}

/** Formats one line of a difference. */
export interface DifferenceLine {
  readonly sign: '+' | '-'
  readonly text: string
}

/** Lists what changed in a definition, field by field. Invisible characters are spelled out. */
export function compareDefinitions(
  before: ToolDefinition | undefined,
  after: ToolDefinition,
): readonly DifferenceLine[] {
  const old = new Map(before ? flatten(before, '', 0) : [])
  const now = new Map(flatten(after, '', 0))
  const paths = [...new Set([...old.keys(), ...now.keys()])]
  return paths.flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)]
    if (was === is) return []
    return [...toDifference('-', path, was), ...toDifference('+', path, is)]
  })
}

function toDifference(sign: DifferenceLine['sign'], path: string, text: string | undefined): readonly DifferenceLine[] {
  if (text === undefined) return []
  return [{ sign, text: showInvisible(`${path}: ${text}`) }]
}

/** Values nested deeper than this are compared as a whole. */
const MAX_DEPTH = 12

function flatten(value: unknown, path: string, depth: number): readonly (readonly [string, string])[] {
  const isNested = typeof value === 'object' && value !== null && depth < MAX_DEPTH
  if (!isNested) return [[path, format(value)]]
  const entries = Object.entries(value)
  if (entries.length === 0) return [[path, Array.isArray(value) ? '[]' : '{}']]
  const isList = Array.isArray(value) && !value.some((item) => isObject(item) || Array.isArray(item))
  // Short lists, such as required fields, are easier to read as a whole.
  if (isList) return [[path, format(value)]]
  return entries.flatMap(([name, item]) => flatten(item, path === '' ? name : `${path}.${name}`, depth + 1))
}

/** As JSON, so that a line break in a text cannot look like another line. */
function format(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'undefined'
  } catch {
    return '…'
  }
}
