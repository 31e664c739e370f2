import { open, readFile } from 'node:fs/promises'
import type { CatalogRecording } from 'foldout/catalog'
import * as v from 'valibot'
import { UsageError } from '../config/config.ts'
import { requireFile } from '../config/text-file.ts'
import { atLeast, boolean, list, number, object, oneOf, read, record, string } from '../../shared/shapes.ts'

/** `run` tells the gateways apart that write to one file, or wrote to it one after the other. */
const common = {
  run: string,
  at: string,
  preset: string,
  client: string,
  /** What the client calls itself, and whose token it has. */
  name: v.optional(string),
  user: v.optional(string),
}
const count = v.pipe(number, atLeast(0))
const answerSize = object({ tokens: count, bytes: count, isFolded: boolean, durationMs: v.optional(count) })
/** What the client got, and what it says if it failed and somebody looks on. Of a call with several lines, the last one has it. */
const answered = { answer: v.optional(answerSize), message: v.optional(string) }

/** How large an answer to a client was. */
export type AnswerSize = v.InferOutput<typeof answerSize>

const lineSchema = v.variant('type', [
  object({ type: v.literal('start'), version: v.literal(1), run: string, at: string, foldout: string }),
  object({ type: v.literal('client'), ...common }),
  object({
    type: v.literal('list'),
    ...common,
    exposure: string,
    tools: count,
    tokens: count,
    /** How many tools there are, and what listing all of them would cost. */
    all: v.optional(count),
    allTokens: v.optional(count),
  }),
  /** How the client is shown the tools, and why. */
  object({ type: v.literal('exposure'), ...common, exposure: string, reason: string }),
  object({
    type: v.literal('search'),
    ...common,
    query: string,
    isRedacted: boolean,
    hits: list(string),
    tokens: count,
    ...answered,
  }),
  object({ type: v.literal('definition'), ...common, tool: string, tokens: count, ...answered }),
  object({
    type: v.literal('call'),
    ...common,
    tool: string,
    through: string,
    arguments: record(v.unknown()),
    isRedacted: boolean,
    isReadOnly: boolean,
    ok: boolean,
    durationMs: count,
    wrappingTokens: count,
    toolTokens: count,
    result: v.optional(object({ hash: string, bytes: count })),
    decision: v.optional(oneOf(['approved', 'asked', 'not approved', 'denied', 'over quota'])),
    ...answered,
  }),
  /** A call that ran no tool of the catalog: it read a folded result, or named a tool that there is not. */
  object({
    type: v.literal('request'),
    ...common,
    tool: string,
    arguments: v.unknown(),
    isRedacted: boolean,
    ok: boolean,
    durationMs: count,
    ...answered,
  }),
])

/** One client action. At each start, the gateway first writes a line with its version. */
export type TrafficLine = v.InferOutput<typeof lineSchema>
export type RecordedTraffic = Exclude<TrafficLine, { type: 'start' }>

const TRAFFIC_START = '{"type":"start"'

/** Whether a file is a traffic recording, which its first line says. */
export async function isTraffic(path: string): Promise<boolean> {
  await requireFile(path)
  const file = await open(path).catch((error: Error) => refuse(path, error))
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(TRAFFIC_START.length), 0, TRAFFIC_START.length, 0)
    return buffer.toString('utf8', 0, bytesRead) === TRAFFIC_START
  } catch (error) {
    return refuse(path, error as Error)
  } finally {
    await file.close()
  }
}

function refuse(file: string, error: Error): never {
  throw new UsageError(`${file} cannot be read: ${error.message}.`, { cause: error })
}

/** Reads what `foldout serve --record` wrote. Skips a last line that was cut off when the gateway was killed. */
export async function readTraffic(file: string): Promise<readonly RecordedTraffic[]> {
  await requireFile(file)
  // The last line may have been cut off in the middle of a character.
  const text = await readFile(file, 'utf8').catch((error: Error) => refuse(file, error))
  const lines = text.split('\n')
  return lines.flatMap((line, i) => {
    if (line.trim() === '') return []
    const parsed = readTrafficLine(line)
    if (parsed) {
      if (parsed.type === 'start') return []
      return [parsed]
    }
    if (i === lines.length - 1) return []
    throw new UsageError(
      `Line ${i + 1} of ${file} is not gateway traffic. Record some with: foldout serve --record <file>`,
    )
  })
}

/** A line of a recording; undefined if it is not one. */
export function readTrafficLine(text: string): TrafficLine | undefined {
  try {
    return read(lineSchema, JSON.parse(text)).data
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
        lists: lines
          .filter((line) => line.type === 'list')
          .map((line) => ({ exposure: line.exposure, tools: line.tools, tokens: line.tokens })),
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
