import { createHash } from 'node:crypto'
import { estimatedTokens } from 'foldout'
import { getListing, isUnknown, type CallResult, type Catalog, type CatalogEntry } from 'foldout/catalog'
import { MAX_AUDIT_NAME } from '../policy/audit/limits.ts'
import { MAX_COUNTED_CHARACTERS, MAX_MESSAGE_CHARACTERS } from './limits.ts'
import type { AnswerSize, RecordedTraffic } from './recording.ts'
import type { Redactor } from '../policy/secrets/redact.ts'
import type { Traffic } from './traffic.ts'

type Of<Type extends Traffic['type']> = Extract<Traffic, { type: Type }>
type Line<Type extends RecordedTraffic['type']> = Extract<RecordedTraffic, { type: Type }>
type Told = Of<'catalog'>['event']

export interface TrafficLinesOptions {
  readonly redactor: Redactor
  /** Tells the lines of this gateway from those of others in the same file. */
  readonly run: string
  /** Whether what a failed call says is kept, for somebody who looks at it now. Default false: a file keeps nothing of results. */
  readonly hasMessages?: boolean
}

/** What happened in one call of a client so far. */
interface Begun {
  readonly told: Of<'catalog'>[]
  readonly calls: Of<'call'>[]
  readonly decisions: Of<'decision'>[]
}

/** What is known of the call of a tool. */
interface CallParts {
  readonly catalog: Catalog
  /** What its server was sent and answered; undefined if it was not called. */
  readonly used: Of<'call'> | undefined
  readonly decided: Of<'decision'> | undefined
}

/** Who did something, and when. */
interface Common {
  readonly run: string
  readonly at: string
  readonly preset: string
  readonly client: string
  readonly name?: string | undefined
  readonly user?: string | undefined
}

/**
 * Turns traffic into lines without secrets, one for each thing that a client did. What belongs to one call of a client is put
 * together when the client has its answer.
 */
export class TrafficLines {
  readonly #options: TrafficLinesOptions
  readonly #begun = new Map<number, Begun>()

  constructor(options: TrafficLinesOptions) {
    this.#options = options
  }

  read(traffic: Traffic): readonly RecordedTraffic[] {
    switch (traffic.type) {
      case 'client': {
        const { preset, client, name, user } = traffic
        return [{ type: 'client', ...this.#toCommon(preset, client), name: this.#redactName(name), user }]
      }
      case 'catalog':
        return this.#readEvent(traffic)
      case 'call':
        if (traffic.request !== undefined) this.#begin(traffic.request).calls.push(traffic)
        return []
      case 'decision':
        if (traffic.request !== undefined) this.#begin(traffic.request).decisions.push(traffic)
        return []
      default:
        return this.#finish(traffic)
    }
  }

  #toCommon(preset: string, client: string): Common {
    return { run: this.#options.run, at: new Date().toISOString(), preset, client }
  }

  #redactName(name: string | undefined): string | undefined {
    if (name === undefined) return undefined
    return this.#options.redactor.redactStart(name, MAX_AUDIT_NAME)
  }

  #begin(request: number): Begun {
    const known = this.#begun.get(request) ?? { told: [], calls: [], decisions: [] }
    this.#begun.set(request, known)
    return known
  }

  #readEvent(traffic: Of<'catalog'>): readonly RecordedTraffic[] {
    const { event, preset, catalog, request } = traffic
    if (!('client' in event)) return []
    const common = this.#toCommon(preset, event.client)
    if (event.type === 'tools/listed') {
      const { exposure, tools, tokens } = event
      return [
        {
          type: 'list',
          ...common,
          exposure,
          tools: tools.length,
          tokens,
          all: catalog.tools.length,
          ...count(catalog),
        },
      ]
    }
    if (event.type === 'exposure/chosen') {
      const { exposure, reason } = event
      return [{ type: 'exposure', ...common, exposure, reason }]
    }
    if (request !== undefined) {
      this.#begin(request).told.push(traffic)
      return []
    }
    return this.#toLines(common, { told: [traffic], calls: [], decisions: [] })
  }

  #finish(answer: Of<'answer'>): readonly RecordedTraffic[] {
    const begun = this.#begin(answer.request)
    this.#begun.delete(answer.request)
    const { name, user } = answer
    const common = { ...this.#toCommon(answer.preset, answer.client), name: this.#redactName(name), user }
    const lines = this.#toLines(common, begun)
    const message = this.#readMessage(answer)
    const { durationMs } = answer
    const size = answer.result && { ...measureAnswer(answer.result), durationMs }
    const last = lines.at(-1)
    if (last) return [...lines.slice(0, -1), { ...last, answer: size, message } as RecordedTraffic]
    const { value, isRedacted } = this.#options.redactor.redactJson(answer.arguments ?? {})
    const { tool, isError } = answer
    return [
      {
        type: 'request',
        ...common,
        tool: this.#options.redactor.redactText(tool).value,
        arguments: value ?? {},
        isRedacted,
        ok: !isError,
        durationMs,
        answer: size,
        message,
      },
    ]
  }

  #toLines(common: Common, { told, calls, decisions }: Begun): readonly RecordedTraffic[] {
    const waiting = [...calls]
    const waitingDecisions = [...decisions]
    return told.flatMap(({ event, catalog }): readonly RecordedTraffic[] => {
      if (event.type === 'tools/searched') return [this.#toSearch(common, event)]
      if (event.type === 'tool/defined')
        return [{ type: 'definition', ...common, tool: event.name, tokens: event.tokens }]
      if (event.type !== 'tool/used') return []
      const used = takeFirst(waiting, ({ tool }) => tool === event.name)
      const decided = takeFirst(waitingDecisions, ({ tool }) => tool === event.name)
      return [this.#toCall(common, event, { catalog, used, decided })]
    })
  }

  #toSearch(common: Common, { query, hits, tokens }: Extract<Told, { type: 'tools/searched' }>): Line<'search'> {
    const { value, isRedacted } = this.#options.redactor.redactText(query)
    return { type: 'search', ...common, query: value, isRedacted, hits: [...hits], tokens }
  }

  #toCall(
    common: Common,
    { name, through, ok, durationMs, wrappingTokens }: Extract<Told, { type: 'tool/used' }>,
    { catalog, used, decided }: CallParts,
  ): Line<'call'> {
    const given = used ?? decided
    const { value, isRedacted } = this.#options.redactor.redactJson(given?.arguments ?? {})
    return {
      type: 'call',
      ...common,
      tool: name,
      through,
      arguments: (value ?? {}) as Record<string, unknown>,
      isRedacted: isRedacted || given === undefined,
      isReadOnly: used?.isReadOnly ?? false,
      ok,
      durationMs,
      wrappingTokens,
      toolTokens: countTool(catalog, name),
      result: used?.result && summarizeResult(used.result),
      decision: decided?.decision,
    }
  }

  /** What a failed call says, if somebody looks at it. */
  #readMessage({ isError, result }: Of<'answer'>): string | undefined {
    if (!this.#options.hasMessages || !isError) return undefined
    if (!result) return 'The call was canceled.'
    return this.#options.redactor.redactStart(readText(result), MAX_MESSAGE_CHARACTERS)
  }
}

function takeFirst<Item>(items: Item[], fits: (item: Item) => boolean): Item | undefined {
  const at = items.findIndex(fits)
  if (at === -1) return undefined
  return items.splice(at, 1)[0]
}

/** Enough to tell whether a result is the same, and nothing of what it says. */
export function summarizeResult({ content, structuredContent, isError }: CallResult): {
  readonly hash: string
  readonly bytes: number
} {
  const text = JSON.stringify([content, structuredContent ?? null, isError === true])
  return { hash: createHash('sha256').update(text).digest('hex').slice(0, 32), bytes: Buffer.byteLength(text) }
}

/** What a client was given. Pictures and sounds have bytes, and no tokens that are known here. */
function measureAnswer(result: CallResult): AnswerSize {
  const text = readText(result)
  const counted = text.slice(0, MAX_COUNTED_CHARACTERS)
  const tokens = counted === '' ? 0 : Math.round(estimatedTokens.count(counted) * (text.length / counted.length))
  const { _meta: meta } = result as { readonly _meta?: object }
  return { tokens, bytes: countBytes(result), isFolded: meta !== undefined && Object.hasOwn(meta, 'foldout/folded') }
}

function countBytes(result: CallResult): number {
  try {
    return Buffer.byteLength(JSON.stringify(result))
  } catch {
    return 0
  }
}

function readText({ content }: CallResult): string {
  return content
    .filter((part) => typeof part['text'] === 'string')
    .map((part) => part['text'])
    .join('\n')
}

const totals = new WeakMap<readonly CatalogEntry[], number>()

/** What listing every tool would cost. Counted once for each state of a catalog. */
function count({ tools }: Catalog): { readonly allTokens: number } {
  const known = totals.get(tools) ?? tools.reduce((sum, entry) => sum + countEntry(entry), 0)
  totals.set(tools, known)
  return { allTokens: known }
}

function countTool(catalog: Catalog, tool: string): number {
  const entry = catalog.resolve(tool)
  if (isUnknown(entry)) return 0
  return countEntry(entry)
}

function countEntry(entry: CatalogEntry): number {
  const { name, description, inputSchema } = getListing(entry)
  return estimatedTokens.count(JSON.stringify({ name, description, inputSchema }))
}
