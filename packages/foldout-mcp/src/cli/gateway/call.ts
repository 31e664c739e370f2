import {
  isUnknown,
  listModelNames,
  runTool,
  type CallContext,
  type CallResult,
  type CatalogEntry,
} from 'foldout/catalog'
import { UsageError } from '../../gateway/config/config.ts'
import { isObject } from 'foldout-shared/values'
import { formatCount } from 'foldout-shared/numbers'
import { callWithin } from '../../gateway/calls/stages/limit-time.ts'
import { EXIT } from '../support/exit-codes.ts'
import { readJsonObject } from '../support/options.ts'
import { type Surroundings } from '../support/surroundings.ts'
import { withServers, type OpenSession, type ServerOptions } from '../support/session.ts'
import { createStyler, toLine, toPrintable } from '../support/text.ts'

export interface CallOptions extends ServerOptions {
  readonly args?: string
}

/** `foldout call <tool>`: runs one tool and prints its result. Returns the exit code. */
export async function callTool(
  tool: string,
  pairs: readonly string[],
  options: CallOptions,
  surroundings: Surroundings,
): Promise<number> {
  const given = readJsonObject('--args', options.args)
  const written = pairs.map(splitPair)
  const { stdout, stderr, signal, env } = surroundings
  return withServers({ ...options, quiet: true }, surroundings, async (session) => {
    const { catalog } = session
    const entry = await findTool(tool, session)
    const args = { ...given, ...Object.fromEntries(written.map((pair) => readPair(pair, entry))) }
    const context: CallContext = {
      signal,
      onProgress({ progress, total, message = '' }) {
        const share = total === undefined ? `${progress}` : `${progress} of ${total}`
        if (!options.quiet) stderr.write(createStyler(stderr, env)('dim', `${toLine(`${share} ${message}`)}\n`))
      },
    }
    const call = (within: CallContext): Promise<CallResult> => catalog.call(tool, args, within)
    const { timeout } = options
    const result = await (timeout === undefined ? call(context) : callWithin(timeout * 1_000, tool, context, call))
    // A failure goes to standard error, so that a script never takes it for a result.
    const stream = result.isError === true && !options.json ? stderr : stdout
    const text = options.json ? `${JSON.stringify(result, null, 2)}\n` : formatResult(result)
    // A program gets what the tool answered. On a terminal, it could be read as commands.
    stream.write(options.json || (stream === stdout && stream.isTTY !== true) ? text : toSafeLines(text))
    if (result.isError === true) return EXIT.failed
    return EXIT.done
  })
}

/** Splits `name=value`. */
function splitPair(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`'${text}' is not an argument. Write name=value, or use --args '{"name": "value"}'.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Reads a value. One that is JSON is used as such, unless the tool wants a text: `limit=3` is a number, `city=Oslo` a text. */
function readPair([name, value]: readonly [string, string], { inputSchema }: CatalogEntry): readonly [string, unknown] {
  const { properties } = inputSchema
  const wanted = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  if (isObject(wanted) && wanted['type'] === 'string') return [name, value]
  try {
    return [name, JSON.parse(value)]
  } catch {
    return [name, value]
  }
}

/** The command line, for the catalog. */
const CLIENT = { id: 'foldout call', takesListChanges: false }

/** A tool that does not exist is a mistake in the command, unless it is held or may belong to a server that has failed. */
async function findTool(tool: string, { catalog, failed, held }: OpenSession): Promise<CatalogEntry> {
  const found = catalog.resolve(tool)
  if (!isUnknown(found)) return found
  const isHeld = held.some(({ server, name }) =>
    [name, `${server}/${name}`, ...listModelNames(server, name)].includes(tool),
  )
  if (isHeld)
    throw new Error(
      `Tool '${tool}' was not run: its definition is new or has changed, and waits for your approval. Run foldout pins to see it.`,
    )
  const answer = await runTool({ catalog, client: CLIENT }, { name: tool, args: {} }, {})
  const message = formatResult(answer).trimEnd()
  if (failed.length > 0) throw new Error(message)
  throw new UsageError(message)
}

/** Formats a result: text is printed unchanged, other content is named by its type and size. */
function formatResult({ content, structuredContent }: CallResult): string {
  const parts = content.map((piece) => {
    if (piece.type === 'text' && typeof piece['text'] === 'string') return piece['text']
    return formatPiece(piece)
  })
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent, null, 2))
  if (parts.length === 0) return ''
  return `${parts.join('\n')}\n`
}

type Fields = Readonly<Record<string, unknown>>

/** Names content that is not text. The text of an embedded resource follows its address. */
function formatPiece(piece: Fields): string {
  const { resource } = piece
  const { text, data, blob, mimeType, uri } = { ...piece, ...(isObject(resource) && resource) } as Fields
  const size = [data, blob].flatMap((base64) => (typeof base64 === 'string' ? formatSize(base64) : []))
  const parts = [piece['type'], mimeType, uri, ...size].filter((part) => typeof part === 'string' && part !== '')
  return [`[${parts.join(' ')}]`, ...(typeof text === 'string' ? [text] : [])].join('\n')
}

function formatSize(base64: string): string {
  return formatCount(Buffer.from(base64, 'base64').length, 'byte')
}

/** Lines that keep their indentation, without what could control a terminal. */
function toSafeLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(toPrintable).join('\t'))
    .join('\n')
}
