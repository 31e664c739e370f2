import type { CallClient, CallResult, Catalog, CatalogEvent } from 'foldout/catalog'

/**
 * What clients do: they list, search and call tools. Arguments and results are unredacted.
 *
 * @example
 * const options: GatewayOptions = {
 *   onTraffic: (traffic: Traffic) => traffic.type === 'call' && console.error(traffic.tool, traffic.isError),
 * }
 */
export type Traffic =
  /** A client connected. Requests over HTTP may come without a connection. */
  | {
      readonly type: 'client'
      readonly preset: string
      /** As in events of the catalog. */
      readonly client: string
      /** As it calls itself. */
      readonly name: string | undefined
      readonly user: string | undefined
    }
  /** An event of the catalog that a preset shows; the empty name is that of everything. */
  | {
      readonly type: 'catalog'
      readonly preset: string
      readonly catalog: Catalog
      readonly event: CatalogEvent
      /** The call of a client in which it happened. */
      readonly request: number | undefined
    }
  /** A server answered a call, or failed to. */
  | {
      readonly type: 'call'
      readonly preset: string
      /** `server/tool`, the qualified name in the catalog. */
      readonly tool: string
      readonly arguments: Readonly<Record<string, unknown>>
      readonly isReadOnly: boolean
      readonly isError: boolean
      /** Missing if the call was aborted. */
      readonly result: CallResult | undefined
      /** The call of a client in which it happened; undefined if none made it. */
      readonly request: number | undefined
    }
  /** A rule or a quota decided on a call. Calls that are allowed without a question are not told of. */
  | {
      readonly type: 'decision'
      readonly preset: string
      /** `server/tool`. */
      readonly tool: string
      readonly arguments: Readonly<Record<string, unknown>>
      readonly decision: 'approved' | 'asked' | 'not approved' | 'denied' | 'over quota'
      readonly request: number | undefined
    }
  /** A client got the answer to a call. What happened in it was told before, with the same `request`. */
  | {
      readonly type: 'answer'
      readonly preset: string
      readonly request: number
      /** As in events of the catalog. */
      readonly client: string
      readonly name: string | undefined
      readonly user: string | undefined
      /** The tool that the client called, such as `use_tool`. */
      readonly tool: string
      readonly arguments: unknown
      readonly isError: boolean
      /** As the client got it, with large texts folded; missing if the call was aborted. */
      readonly result: CallResult | undefined
      readonly durationMs: number
    }

export type OnTraffic = (traffic: Traffic) => void

/** A client as traffic names it. */
export function toClient(
  client: CallClient | undefined,
  id = client?.id ?? '',
): { readonly client: string; readonly name: string | undefined; readonly user: string | undefined } {
  return { client: id, name: client?.name, user: client?.principal }
}
