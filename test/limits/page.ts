import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'

/** One default limit, as its module declares it. */
export interface Limit {
  /** The room it belongs to, such as `mcp` or `catalog/search`. */
  readonly room: string
  readonly name: string
  readonly value: unknown
  /** Its doc comment on one line; empty if it has none. */
  readonly comment: string
}

const packages = join(import.meta.dirname, '../../packages')

/** The modules that hold default limits, one per room. */
export function findLimitModules(): readonly string[] {
  return readdirSync(packages, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(`${sep}limits.ts`) && /^[^/\\]+[/\\]src[/\\]/.test(file))
    .map((file) => join(packages, file))
    .sort()
}

export async function readLimits(file: string): Promise<readonly Limit[]> {
  const text = readFileSync(file, 'utf8')
  const values = (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>
  const room = relative(packages, dirname(file)).split(sep).join('/').replace('foldout/src/', '').replace('/src', '')
  return Object.entries(values).flatMap(([name, value]): readonly Limit[] => {
    if (typeof value === 'function') return []
    if (typeof value !== 'object' || value === null)
      return [{ room, name, value, comment: findComment(text, `export const ${name}`) }]
    return Object.entries(value).map(([field, inner]: [string, unknown]) => ({
      room,
      name: `${name}.${field}`,
      value: inner,
      comment:
        findComment(text, `readonly ${field}`) ||
        findComment(text, `${field}:`) ||
        findComment(text, `export const ${name}`),
    }))
  })
}

/** The doc comment right before a declaration. */
function findComment(text: string, declaration: string): string {
  const at = text.search(new RegExp(`(?<![\\w.])${declaration}\\b`))
  const before = at === -1 ? '' : text.slice(0, at).trimEnd()
  if (!before.endsWith('*/')) return ''
  const comment = before.slice(before.lastIndexOf('/**') + 3, -2)
  return comment.replaceAll(/\s*\n\s*\*?\s*/g, ' ').trim()
}

const CHANGE = /\s*(?:Option|Options) (`[^`]+`(?: of `[^`]+`)?)\.?/

/** The page `docs/limits.md`. */
export function formatPage(limits: readonly Limit[]): string {
  const rows = limits.flatMap(({ room, name, value, comment }) => {
    const field = room === 'catalog/exposures/code/contract' ? name.split('.')[1] : undefined
    const change = field === undefined ? CHANGE.exec(comment)?.[1] : `\`limits.${field}\` of \`createSandbox\``
    if (change === undefined) return []
    const what = comment
      .replace(CHANGE, '')
      .replace(/ Default [\d,]+\./, '')
      .replaceAll(/\{@link (\w+)\}/g, '`$1`')
      .replaceAll('|', '\\|')
    return [`| ${room} | ${change} | ${formatValue(value)} | ${what} |`]
  })
  return [
    '# Default limits',
    '',
    'Input from a model, a client, an upstream server, a skill or a file must not stop or stall the process. These are the limits that you can set, with their defaults. The others are fixed; the `limits.ts` modules of the source have them. `npx vitest run test/limits --update` updates this page.',
    '',
    '| where | option | default | what it limits, and what happens beyond it |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

function formatValue(value: unknown): string {
  return typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 3 }) : String(value)
}
