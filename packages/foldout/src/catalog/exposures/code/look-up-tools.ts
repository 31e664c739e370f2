import { untilAborted } from '../../../core/abort.ts'
import { nearest, nameSome, shorten } from '../../../core/text.ts'
import { estimatedTokens } from '../../../core/tokens/tokens.ts'
import { markFoundNothing } from '../../found-nothing.ts'
import { isUnknown } from '../../unknown-tool.ts'
import { createErrorResult, createTextResult } from '../../../tools/call-result.ts'
import { estimateGivenTokens, type MetaScope, type MetaTool } from '../../meta-tools/meta-tool.ts'
import {
  formatAlsoNear,
  formatCutQuery,
  formatGuesses,
  formatSearchAnswer,
  formatUnanswered,
} from '../../meta-tools/search-answer.ts'
import type { CallResult, CatalogEntry } from '../../tool.ts'
import { MAX_QUERY_CHARACTERS } from '../../search/limits.ts'
import { getFolder, type FunctionFolder, type ServerFolder } from './function-folder.ts'

export const LOOK_UP_TOOLS = 'look_up_tools'

/** The maximum size of the answer to a search or a listing, in tokens. The answer says how much does not fit. */
const CEILING = 800
/** The maximum size of an answer with declarations requested by path, in tokens. */
const READING_CEILING = 4_000
const HITS = 5
/** The maximum length of a file's or server's description, in characters. */
const MAX_DESCRIPTION = 80
const NAMED_PATHS = 5
/** How many paths one call may look up. */
const MAX_PATHS = 100

/** Creates the tool that shows the catalog as a folder of declarations, which a model lists, reads and searches. */
export function createLookUpTool(scope: MetaScope): MetaTool {
  return {
    listing: {
      name: LOOK_UP_TOOLS,
      description:
        'Find the functions for run_code. With query: declarations of those that fit. With paths: what these folders and files hold, such as "servers/<server>" or "servers/<server>/<tool>.d.ts". With neither: the servers.',
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'What to do' },
          paths: { type: 'array', items: { type: 'string' } },
        },
      },
      annotations: { title: 'Look up tools', readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    async call(args, { signal, request }) {
      // Models send nothing, `null` or `""` for a missing argument, and a string for a list with one item.
      const query = args['query'] || undefined
      const paths = [args['paths'] || []].flat()
      if (query !== undefined && typeof query !== 'string') return createErrorResult("'query' must be a string.")
      if (!paths.every((path) => typeof path === 'string')) {
        return createErrorResult("'paths' must be a list of strings.")
      }
      if (query?.trim()) return untilAborted(signal, () => search(scope, query, request))
      return read(scope, paths.length > 0 ? paths : [''], request)
    },
  }
}

async function search({ catalog, client }: MetaScope, query: string, request: number | undefined): Promise<CallResult> {
  const folder = getFolder(catalog)
  const outcome = await catalog.search(query, { limit: HITS })
  const hits = outcome.hits.map(({ tool }) => tool)
  const text =
    hits.length === 0
      ? formatSearchAnswer(catalog, { query, outcome, detail: 'names' }).text
      : [
          ...formatCutQuery(outcome),
          ...(outcome.fit === 'weak' ? [formatGuesses(query)] : formatUnanswered(outcome)),
          formatHits(folder, hits, outcome.alsoNear),
        ].join('\n')
  catalog.report({
    type: 'tools/searched',
    client: client.id,
    query: shorten(query, MAX_QUERY_CHARACTERS),
    hits: hits.map(({ qualified }) => qualified),
    tokens: estimateGivenTokens(query) + estimatedTokens.count(text),
    request,
  })
  const result = createTextResult(text)
  if (hits.length === 0) return markFoundNothing(result)
  return result
}

/** Formats declarations as long as they fit, and only the paths of the others. */
function formatHits(folder: FunctionFolder, hits: readonly CatalogEntry[], next: readonly CatalogEntry[]): string {
  const blocks: string[] = []
  const lines: string[] = []
  let room = CEILING
  for (const entry of hits) {
    const block = formatDeclaration(folder, entry)
    const tokens = estimatedTokens.count(block)
    if (tokens <= room) blocks.push(block)
    else lines.push(formatFile(folder.getPath(entry), entry))
    room -= tokens
  }
  return [...blocks, ...lines, ...formatAlsoNear(next.map(({ name }) => name))].join('\n')
}

function formatDeclaration(folder: FunctionFolder, entry: CatalogEntry): string {
  return `// ${folder.getPath(entry)}${formatOtherName(folder.getPath(entry), entry)}\n${folder.formatStubText(entry).trimEnd()}`
}

function formatFile(path: string, entry: CatalogEntry): string {
  const description = shorten(entry.shortDescription.replaceAll(/\s+/g, ' ').trim(), MAX_DESCRIPTION)
  return `${path}${formatOtherName(path, entry)}${description === '' ? '' : ` — ${description}`}`
}

/** Names the tool as models see it, if that differs from the path. */
function formatOtherName(path: string, { name }: CatalogEntry): string {
  if (path.endsWith(`/${name}.d.ts`) || path === `${name}.d.ts`) return ''
  return ` (tool ${name})`
}

function read(scope: MetaScope, paths: readonly string[], request: number | undefined): CallResult {
  const folder = getFolder(scope.catalog)
  const parts: string[] = []
  let room = READING_CEILING
  let isFailure = true
  for (const path of paths.slice(0, MAX_PATHS)) {
    const found = findPath(scope, folder, path)
    const text = formatFound(folder, found)
    const tokens = estimatedTokens.count(text)
    if (parts.length > 0 && tokens > room) {
      parts.push(`Left out, because the answer would be too long: ${nameSome(paths.slice(parts.length), NAMED_PATHS)}.`)
      break
    }
    room -= tokens
    parts.push(text)
    if (typeof found === 'string') continue
    isFailure = false
    if (!('entry' in found)) continue
    const { qualified: name } = found.entry
    scope.catalog.report({ type: 'tool/defined', client: scope.client.id, name, tokens, request })
  }
  if (isFailure) return createErrorResult(parts.join('\n'))
  return createTextResult(parts.join('\n'))
}

/** The target of a path; a string says that there is none. */
type FoundPath = { readonly entry: CatalogEntry } | { readonly text: string } | string

function formatFound(folder: FunctionFolder, found: FoundPath): string {
  if (typeof found === 'string') return found
  if ('entry' in found) return formatDeclaration(folder, found.entry)
  return found.text
}

function findPath({ catalog }: MetaScope, folder: FunctionFolder, path: string): FoundPath {
  const [server, file, ...rest] = path
    .replace(/^(?:\.?\/)*(?:servers(?:\/|$))?/, '')
    .split('/')
    .filter((part) => part !== '')
  if (server === undefined) return { text: formatServers(folder) }
  const found = folder.servers.get(server)
  if (found && file === undefined) return { text: formatServer(found) }
  const entry = rest.length === 0 ? found?.tools.get((file ?? '').replace(/\.d\.ts$/, '')) : undefined
  if (entry) return { entry }
  // Models may also know a tool by its name.
  const named = catalog.resolve((file ?? server).replace(/\.d\.ts$/, ''))
  if (!isUnknown(named)) return { entry: named }
  const known = found
    ? Array.from(found.tools.values(), (tool) => folder.getPath(tool))
    : Array.from(folder.servers.keys(), (name) => `servers/${name}`)
  const near = nearest(found ? `servers/${server}/${file}` : `servers/${server}`, known)
  return `There is no '${shorten(path)}'.${near.length > 0 ? ` Nearest: ${near.join(', ')}.` : ''}`
}

function formatServers({ servers }: FunctionFolder): string {
  if (servers.size === 0) return 'There are no tools.'
  const lines = Array.from(servers.values(), ({ identifier, description, tools }) => {
    const about = description === undefined ? '' : ` — ${shorten(description, MAX_DESCRIPTION)}`
    return `servers/${identifier}/ (${tools.size} ${tools.size === 1 ? 'tool' : 'tools'})${about}`
  })
  return fitLines(lines, 'servers')
}

function formatServer({ identifier, tools }: ServerFolder): string {
  const lines = Array.from(tools, ([name, entry]) => formatFile(`${name}.d.ts`, entry))
  return `servers/${identifier}/\n${fitLines(lines, 'files')}`
}

function fitLines(lines: readonly string[], what: string): string {
  let room = CEILING
  const cut = lines.findIndex((line) => (room -= estimatedTokens.count(line) + 1) < 0)
  if (cut === -1) return lines.join('\n')
  return `${lines.slice(0, cut).join('\n')}\n${lines.length - cut} more ${what}: find what you need with query.`
}
