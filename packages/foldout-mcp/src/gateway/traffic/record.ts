import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { estimatedTokens } from 'foldout'
import { getListing, isUnknown, type CallResult, type Catalog, type CatalogEvent } from 'foldout/catalog'
import { MAX_WAITING_CHARACTERS } from './limits.ts'
import type { TrafficLine } from './recording.ts'
import type { Redactor } from './redact.ts'
import type { Traffic } from './traffic.ts'

/** Writes traffic to a file, one line of JSON per client action. */
export interface TrafficRecorder {
  readonly onTraffic: (traffic: Traffic) => void
  /** Resolves when everything has been written or writing has failed. */
  close(): Promise<void>
}

export interface TrafficRecorderOptions {
  readonly redactor: Redactor
  readonly version: string
  /** Called once, if the file cannot be written. The gateway continues without it. */
  readonly onProblem: (message: string) => void
}

type Call = Extract<Traffic, { type: 'call' }>

export function recordTraffic(file: string, { redactor, version, onProblem }: TrafficRecorderOptions): TrafficRecorder {
  // Only the user may read the recording.
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 })
  let hasFailed = false
  const fail = (reason: string): void => {
    if (!hasFailed) onProblem(`Traffic is no longer recorded in ${file}: ${reason}`)
    hasFailed = true
  }
  stream.on('error', (error) => fail(error.message))
  const write = (line: TrafficLine): void => {
    if (hasFailed) return
    if (stream.writableLength > MAX_WAITING_CHARACTERS) return fail('the disk is too slow.')
    stream.write(`${JSON.stringify(line)}\n`)
  }
  // A call is reported when its server answers, and again, with the route it took, when the client gets the answer.
  const answered = new Map<string, Call[]>()
  const run = randomUUID().slice(0, 8)
  write({ type: 'start', version: 1, run, at: new Date().toISOString(), foldout: version })
  return {
    onTraffic(traffic) {
      if (traffic.type === 'call') {
        const waiting = answered.get(traffic.tool)
        if (waiting) waiting.push(traffic)
        else answered.set(traffic.tool, [traffic])
        return
      }
      const { event, catalog, preset } = traffic
      const used = event.type === 'tool/used' ? answered.get(event.name)?.shift() : undefined
      if (event.type === 'tool/used' && answered.get(event.name)?.length === 0) answered.delete(event.name)
      const line = toLine(event, { catalog, redactor, used })
      if (line) write({ ...line, run, at: new Date().toISOString(), preset } as TrafficLine)
    },
    close: () =>
      new Promise((resolve) => {
        if (hasFailed) return resolve()
        stream.once('error', () => resolve())
        stream.end(() => resolve())
      }),
  }
}

interface LineParts {
  readonly catalog: Catalog
  readonly redactor: Redactor
  /** The server's request and response; undefined if the call did not reach the server. */
  readonly used: Call | undefined
}

function toLine(event: CatalogEvent, { catalog, redactor, used }: LineParts): object | undefined {
  if (event.type === 'tools/listed') {
    const { client, exposure, tools, tokens } = event
    return { type: 'list', client, exposure, tools: tools.length, tokens }
  }
  if (event.type === 'tools/searched') {
    const { client, hits, tokens } = event
    const { value: query, isRedacted } = redactor.redactText(event.query)
    return { type: 'search', client, query, isRedacted, hits, tokens }
  }
  if (event.type === 'tool/defined') {
    const { client, name, tokens } = event
    return { type: 'definition', client, tool: name, tokens }
  }
  if (event.type !== 'tool/used') return undefined
  const { client, name, through, ok, durationMs, wrappingTokens } = event
  const { value, isRedacted } = redactor.redactJson(used?.arguments ?? {})
  return {
    type: 'call',
    client,
    tool: name,
    through,
    arguments: value ?? {},
    isRedacted: isRedacted || used === undefined,
    isReadOnly: used?.isReadOnly ?? false,
    ok,
    durationMs,
    wrappingTokens,
    toolTokens: countTool(catalog, name),
    result: used?.result === undefined ? undefined : summarizeResult(used.result),
  }
}

/** Enough to tell whether a result is the same, without revealing its content. */
export function summarizeResult({ content, structuredContent, isError }: CallResult): {
  readonly hash: string
  readonly bytes: number
} {
  const text = JSON.stringify([content, structuredContent ?? null, isError === true])
  return { hash: createHash('sha256').update(text).digest('hex').slice(0, 32), bytes: Buffer.byteLength(text) }
}

function countTool(catalog: Catalog, tool: string): number {
  const entry = catalog.resolve(tool)
  if (isUnknown(entry)) return 0
  const { name, description, inputSchema } = getListing(entry)
  return estimatedTokens.count(JSON.stringify({ name, description, inputSchema }))
}
