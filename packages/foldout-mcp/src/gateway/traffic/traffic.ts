import type { CallContext, CallResult, Catalog, CatalogEvent, RawTool } from 'foldout/catalog'

/**
 * What clients do: they list, search and call tools. Arguments and results are unredacted.
 *
 * @example
 * const options: GatewayOptions = {
 *   onTraffic: (traffic: Traffic) => traffic.type === 'call' && console.error(traffic.tool, traffic.isError),
 * }
 */
export type Traffic =
  /** An event of a preset's catalog. The empty name means all servers. */
  | { readonly type: 'catalog'; readonly preset: string; readonly catalog: Catalog; readonly event: CatalogEvent }
  /** A server answered a call, or the call failed. */
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
    }

/** Wraps tools so that their calls can be watched. */
export function watchTools(
  tools: readonly RawTool[],
  preset: string,
  onTraffic: ((traffic: Traffic) => void) | undefined,
): readonly RawTool[] {
  if (!onTraffic) return tools
  return tools.map((tool) => {
    const { call, name, source, annotations } = tool
    if (!call) return tool
    const common = {
      type: 'call',
      preset,
      tool: source === undefined ? name : `${source}/${name}`,
      isReadOnly: annotations?.readOnlyHint === true,
    } as const
    return {
      ...tool,
      async call(args: Readonly<Record<string, unknown>>, context: CallContext) {
        let result: CallResult | undefined
        try {
          result = await call(args, context)
          return result
        } finally {
          onTraffic({ ...common, arguments: args, result, isError: result === undefined || result.isError === true })
        }
      },
    }
  })
}
