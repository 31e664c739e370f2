import { cut } from '../protocol/text.ts'
import {
  formatSignature,
  isUnknown,
  type CallResult,
  type Catalog,
  type CatalogEntry,
  type ListedTool,
  type SearchHit,
} from 'foldout/catalog'
import type { ServerStatus } from '../../gateway/gateway.ts'
import { toVisible } from '../../shared/visible.ts'
import { compareExposures, computeCosts, type CatalogCosts } from '../../gateway/serve/costs.ts'
import type { InspectorSource } from '../inspector.ts'
import { CALL_MS } from './limits.ts'
import type { CallView, CatalogView, FoundTool, ServerRow, ToolDetail } from '../protocol/protocol.ts'

/** A gateway as the catalog view sees it. */
export interface InspectedGateway {
  readonly servers: readonly ServerStatus[]
  readonly ownTools: readonly ListedTool[]
  readonly ownInstructions: string
  getCatalog(): Promise<Catalog>
}

export interface CatalogSource extends InspectorSource {
  /** Called when the gateway has changed: a server started or failed, or its tools changed. */
  notify(): void
}

/** The catalog view: servers, tools and what they cost, searches with their reasons, and calls. */
export function createCatalogSource(gateway: InspectedGateway): CatalogSource {
  const listeners = new Set<() => void>()
  const costs = new WeakMap<readonly CatalogEntry[], CatalogCosts>()
  const count = (catalog: Catalog): CatalogCosts => {
    const known = costs.get(catalog.tools) ?? computeCosts(catalog)
    costs.set(catalog.tools, known)
    return known
  }
  return {
    view: 'catalog',
    notify() {
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    handlers: {
      'catalog/get': async () => {
        const catalog = await gateway.getCatalog()
        return describeCatalog(catalog, count(catalog), gateway.servers)
      },
      'catalog/tool': async ({ name }) => {
        const catalog = await gateway.getCatalog()
        const entry = catalog.resolve(name)
        if (isUnknown(entry)) throw new Error(`The tool '${name}' no longer exists.`)
        return describeTool(entry, count(catalog).tools.get(entry) ?? 0)
      },
      'catalog/search': async ({ query, limit }) => {
        const catalog = await gateway.getCatalog()
        const { hits, fit, alsoNear, confidence, withoutEncoder } = await catalog.search(query, { limit })
        const next = alsoNear.map(({ name }) => name)
        return { query, fit, alsoNear: next, confidence, withoutEncoder, hits: hits.map(describeHit) }
      },
      'catalog/explain': async ({ query, name }) => (await (await gateway.getCatalog()).explain(query, name)) ?? null,
      'catalog/exposures': async () => {
        const catalog = await gateway.getCatalog()
        return compareExposures(catalog, count(catalog), gateway.ownTools, gateway.ownInstructions)
      },
      'catalog/call': async ({ name, arguments: args }) => {
        const catalog = await gateway.getCatalog()
        const began = performance.now()
        const result = await catalog.call(name, args, { signal: AbortSignal.timeout(CALL_MS) })
        return describeResult(result, performance.now() - began)
      },
    },
  }
}

function describeCatalog(catalog: Catalog, costs: CatalogCosts, servers: readonly ServerStatus[]): CatalogView {
  const tokens = new Map(costs.servers.map((server) => [server.name, server]))
  // A catalog has names without invisible characters.
  const getCosts = (name: string) => tokens.get(name) ?? tokens.get(toVisible(name))
  const rows = servers.map(({ name, state, tools }): ServerRow => ({
    name,
    state: state.type,
    reason: state.type === 'failed' ? state.reason : undefined,
    calls: state.type === 'running' ? state.calls : 0,
    retryAt: state.type === 'failed' ? state.retryAt : undefined,
    needsSignIn: state.type === 'failed' && state.needsSignIn === true,
    tools: tools ?? getCosts(name)?.tools,
    tokens: getCosts(name)?.tokens ?? 0,
  }))
  return {
    servers: rows,
    tools: catalog.tools.map((tool) => ({
      name: tool.name,
      server: tool.source ?? '',
      summary: tool.shortDescription,
      tokens: costs.tools.get(tool) ?? 0,
      isReadOnly: tool.annotations?.readOnlyHint === true,
    })),
    broken: catalog.broken.map(({ source, name, reason }) => ({ server: source ?? '', name, reason })),
    tokens: costs.total,
    counter: costs.counter,
  }
}

function describeTool(entry: CatalogEntry, tokens: number): ToolDetail {
  const { name, qualified, declared, source, title, description, annotations, inputSchema } = entry
  return {
    name,
    qualified,
    declared,
    server: source ?? '',
    title,
    description,
    signature: formatSignature(entry),
    tokens,
    isReadOnly: annotations?.readOnlyHint === true,
    isDestructive: annotations?.readOnlyHint !== true && annotations?.destructiveHint !== false,
    inputSchema,
  }
}

function describeHit({ tool, score, explain }: SearchHit<CatalogEntry>): FoundTool {
  const { name, source, shortDescription } = tool
  return { name, server: source ?? '', summary: shortDescription, score, explanation: explain() }
}

/** A tool's result as texts. Images and audio are only named, because the page should not open a server's bytes. */
function describeResult({ content, structuredContent, isError }: CallResult, durationMs: number): CallView {
  const parts = content.map((part) => {
    if (typeof part['text'] === 'string') return cut(part['text'])
    const { type, mimeType, data } = part as Readonly<Record<string, unknown>>
    if (typeof data === 'string')
      return `[${String(type)} ${String(mimeType)}, ${Math.ceil((data.length * 3) / 4)} bytes]`
    return cut(JSON.stringify(part, null, 2))
  })
  return {
    isError: isError === true,
    durationMs,
    parts,
    structured: structuredContent === undefined ? undefined : cut(JSON.stringify(structuredContent, null, 2)),
  }
}
