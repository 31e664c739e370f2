import { open, readFile } from 'node:fs/promises'
import type { CatalogRecording } from 'foldout/catalog'
import * as z from 'zod'
import { UsageError } from '../config/config.ts'

/** `run` distinguishes gateways that write to the same file, at once or one after the other. */
const common = { run: z.string(), at: z.string(), preset: z.string(), client: z.string() }
const count = z.number().min(0)

const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), version: z.literal(1), run: z.string(), at: z.string(), foldout: z.string() }),
  z.object({ type: z.literal('list'), ...common, exposure: z.string(), tools: count, tokens: count }),
  z.object({
    type: z.literal('search'),
    ...common,
    query: z.string(),
    isRedacted: z.boolean(),
    hits: z.array(z.string()),
    tokens: count,
  }),
  z.object({ type: z.literal('definition'), ...common, tool: z.string(), tokens: count }),
  z.object({
    type: z.literal('call'),
    ...common,
    tool: z.string(),
    through: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    isRedacted: z.boolean(),
    isReadOnly: z.boolean(),
    ok: z.boolean(),
    durationMs: count,
    wrappingTokens: count,
    toolTokens: count,
    result: z.object({ hash: z.string(), bytes: count }).optional(),
  }),
])

/** One client action. At each start, the gateway first writes a line with its version. */
export type TrafficLine = z.infer<typeof lineSchema>
export type RecordedTraffic = Exclude<TrafficLine, { type: 'start' }>

const TRAFFIC_START = '{"type":"start"'

/** Whether a file is a traffic recording, which its first line says. */
export async function isTraffic(path: string): Promise<boolean> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new UsageError(`There is no file ${path}.`)
    throw new UsageError(`${path} cannot be read: ${error.message}`)
  })
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(TRAFFIC_START.length), 0, TRAFFIC_START.length, 0)
    return buffer.toString('utf8', 0, bytesRead) === TRAFFIC_START
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`)
  } finally {
    await file.close()
  }
}

/** Reads what `foldout serve --record` wrote. Skips a last line that was cut off when the gateway was killed. */
export async function readTraffic(file: string): Promise<readonly RecordedTraffic[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new UsageError(`There is no file ${file}.`)
    throw new UsageError(`${file} cannot be read: ${error.message}`)
  })
  const lines = text.split('\n')
  return lines.flatMap((line, i) => {
    if (line.trim() === '') return []
    const parsed = lineSchema.safeParse(parseLine(line))
    if (parsed.success) return parsed.data.type === 'start' ? [] : [parsed.data]
    if (i === lines.length - 1) return []
    throw new UsageError(
      `Line ${i + 1} of ${file} is not gateway traffic. Record some with: foldout serve --record <file>`,
    )
  })
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Converts traffic to the use a catalog records, from which core tools can be learned. */
export function toCatalogRecording(traffic: readonly RecordedTraffic[]): CatalogRecording {
  const byClient = new Map<string, RecordedTraffic[]>()
  const tokens = new Map<string, number>()
  for (const line of traffic) {
    const id = `${line.run}/${line.preset}/${line.client}`
    const lines = byClient.get(id)
    if (lines) lines.push(line)
    else byClient.set(id, [line])
    if (line.type === 'call') tokens.set(line.tool, line.toolTokens)
  }
  return {
    version: 1,
    tools: Array.from(tokens, ([name, each]) => ({ name, tokens: each })),
    clients: Array.from(byClient, ([id, lines]) => {
      const calls = lines.filter(({ type }) => type !== 'list')
      return {
        id,
        lists: lines.flatMap((line) =>
          line.type === 'list' ? [{ exposure: line.exposure, tools: line.tools, tokens: line.tokens }] : [],
        ),
        searches: calls.flatMap((line, at) =>
          line.type === 'search' ? [{ at, hits: line.hits, tokens: line.tokens }] : [],
        ),
        definitions: calls.flatMap((line, at) =>
          line.type === 'definition' ? [{ at, name: line.tool, tokens: line.tokens }] : [],
        ),
        uses: calls.flatMap((line, at) => {
          if (line.type !== 'call') return []
          const { tool: name, through, ok, wrappingTokens } = line
          return [{ at, name, through, ok, wrappingTokens }]
        }),
      }
    }),
  }
}
