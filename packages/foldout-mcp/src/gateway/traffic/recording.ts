import { open, readFile } from 'node:fs/promises'
import type { CatalogRecording } from 'foldout/catalog'
import * as z from 'zod'
import { UsageError } from '../config/config.ts'

/** `run` tells the gateways apart that write to one file, or wrote to it one after the other. */
const common = {
  run: z.string(),
  at: z.string(),
  preset: z.string(),
  client: z.string(),
  /** What the client calls itself, and whose token it has. */
  name: z.string().optional(),
  user: z.string().optional(),
}
const count = z.number().min(0)
const answerSize = z.object({ tokens: count, bytes: count, isFolded: z.boolean(), durationMs: count.optional() })
/** What the client got, and what it says if it failed and somebody looks on. Of a call with several lines, the last one has it. */
const answered = { answer: answerSize.optional(), message: z.string().optional() }

/** How large an answer to a client was. */
export type AnswerSize = z.infer<typeof answerSize>

const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), version: z.literal(1), run: z.string(), at: z.string(), foldout: z.string() }),
  z.object({ type: z.literal('client'), ...common }),
  z.object({
    type: z.literal('list'),
    ...common,
    exposure: z.string(),
    tools: count,
    tokens: count,
    /** How many tools there are, and what listing all of them would cost. */
    all: count.optional(),
    allTokens: count.optional(),
  }),
  /** How the client is shown the tools, and why. */
  z.object({ type: z.literal('exposure'), ...common, exposure: z.string(), reason: z.string() }),
  z.object({
    type: z.literal('search'),
    ...common,
    query: z.string(),
    isRedacted: z.boolean(),
    hits: z.array(z.string()),
    tokens: count,
    ...answered,
  }),
  z.object({ type: z.literal('definition'), ...common, tool: z.string(), tokens: count, ...answered }),
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
    decision: z.enum(['approved', 'asked', 'not approved', 'denied', 'over quota']).optional(),
    ...answered,
  }),
  /** A call that ran no tool of the catalog: it read a folded result, or named a tool that there is not. */
  z.object({
    type: z.literal('request'),
    ...common,
    tool: z.string(),
    arguments: z.unknown(),
    isRedacted: z.boolean(),
    ok: z.boolean(),
    durationMs: count,
    ...answered,
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
    const parsed = readTrafficLine(line)
    if (parsed) return parsed.type === 'start' ? [] : [parsed]
    if (i === lines.length - 1) return []
    throw new UsageError(
      `Line ${i + 1} of ${file} is not gateway traffic. Record some with: foldout serve --record <file>`,
    )
  })
}

/** A line of a recording; undefined if it is not one. */
export function readTrafficLine(text: string): TrafficLine | undefined {
  try {
    return lineSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

const USES: ReadonlySet<RecordedTraffic['type']> = new Set(['list', 'search', 'definition', 'call'])

/** The same use as a catalog records it, from which a core can be learned. */
export function toCatalogRecording(traffic: readonly RecordedTraffic[]): CatalogRecording {
  const byClient = new Map<string, RecordedTraffic[]>()
  const tokens = new Map<string, number>()
  for (const line of traffic) {
    if (!USES.has(line.type)) continue
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
