import { isUnknown, type Catalog, type CallResult } from 'foldout/catalog'
import { UsageError } from '../gateway/config/config.ts'
import { limitCall, type Call } from '../gateway/policy/call-limits.ts'
import { EXIT } from './exit-codes.ts'
import { readJsonObject } from './options.ts'
import { withServers, type ServerOptions, type Surroundings } from './session.ts'
import { createStyler, toLine } from './text.ts'

export interface CallOptions extends ServerOptions {
  readonly args?: string
}

/** `foldout call <tool>`: runs one tool and prints its result. Returns the exit code. */
export async function callTool(tool: string, options: CallOptions, surroundings: Surroundings): Promise<number> {
  const args = readJsonObject('--args', options.args)
  const { stdout, stderr, signal, env } = surroundings
  return withServers({ ...options, quiet: true }, surroundings, async ({ catalog, failed }) => {
    await refuseUnknown(tool, catalog, failed.length > 0)
    const call: Call = (given, context) => catalog.call(tool, given, context)
    const timeoutMs = options.timeout === undefined ? undefined : options.timeout * 1_000
    const limited = limitCall(tool, call, { timeoutMs, maxConcurrent: undefined, maxResultBytes: Infinity })
    const result = await limited(args, {
      signal,
      onProgress({ progress, total, message = '' }) {
        const share = total === undefined ? `${progress}` : `${progress} of ${total}`
        if (!options.quiet) stderr.write(createStyler(stderr, env)('dim', `${toLine(`${share} ${message}`)}\n`))
      },
    })
    // A failure goes to standard error, so that a script never takes it for a result.
    const stream = result.isError === true && !options.json ? stderr : stdout
    stream.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : formatResult(result))
    return result.isError === true ? EXIT.failed : EXIT.done
  })
}

/** A tool that does not exist is a mistake in the command, unless it may belong to a server that has failed. */
async function refuseUnknown(tool: string, catalog: Catalog, hasFailed: boolean): Promise<void> {
  if (!isUnknown(catalog.resolve(tool))) return
  const message = formatResult(await catalog.call(tool, {})).trimEnd()
  throw hasFailed ? new Error(message) : new UsageError(message)
}

/** Formats a result: text is printed unchanged, other content is named by its type and size. */
function formatResult({ content, structuredContent }: CallResult): string {
  const parts = content.map((piece) => {
    if (piece.type === 'text' && typeof piece['text'] === 'string') return piece['text']
    const { data, mimeType, uri } = piece as Readonly<Record<string, unknown>>
    const size = typeof data === 'string' ? `${Math.ceil((data.length * 3) / 4)} bytes` : ''
    return `[${[piece.type, mimeType, uri, size].filter((part) => typeof part === 'string' && part !== '').join(' ')}]`
  })
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent, null, 2))
  return parts.length === 0 ? '' : `${parts.join('\n')}\n`
}
